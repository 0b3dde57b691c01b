import Foundation
import Testing

/// Who reads the repository has the repository alone, so nothing in it may rest on
/// a page that is elsewhere.
@Suite("References to pages")
struct PageReferenceTests {
    /// This suite's own folder spells what it looks for.
    private static let files = TextFile.all().filter { !$0.path.hasPrefix("Tests/ArchitectureTests/") }

    @Test("a page that is named is a page of the repository")
    func pagesExist() {
        #expect(Self.files.count > 500)
        for file in Self.files {
            for (number, line) in file.numberedLines where line.has(".md") {
                for match in line.matches(of: /(?:https?:\/\/\S*?)?(?<path>[\w.\/-]*\w\.md)\b/) {
                    let isLink = match.output.0.hasPrefix("http")
                    #expect(
                        isLink || file.leads(to: String(match.output.path)),
                        "\(file.path):\(number) names \(match.output.path), which is not here"
                    )
                }
            }
        }
    }

    @Test(
        "no page is cited by a name that only its writers know",
        arguments: ["ops-promises", "push-providers", "design section"]
    )
    func names(name: String) {
        for file in Self.files {
            for (number, line) in file.numberedLines where line.has(name) {
                Issue.record("\(file.path):\(number) cites a page that is not here: \(line)")
            }
        }
    }

    /// Whether a digit follows a P: few lines are worth a look at whole words.
    private static func mayCite(_ line: Substring) -> Bool {
        zip(line.utf8, line.utf8.dropFirst()).contains { $0 == UInt8(ascii: "P") && (0x31...0x39).contains($1) }
    }

    @Test("no promise is cited by a number")
    func numbers() {
        for file in Self.files {
            for (number, line) in file.numberedLines where Self.mayCite(line) {
                #expect(!line.contains(/\bP[1-9][0-9]?\b/), "\(file.path):\(number): \(line)")
            }
        }
    }
}

/// A text file of the repository, whatever its kind.
private struct TextFile {
    /// From the package's folder.
    let path: String
    let text: String

    var numberedLines: [(Int, Substring)] {
        Array(zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)))
    }

    /// Whether a path in this file is that of a file: from the package's folder,
    /// this file's own, or `docs`.
    func leads(to page: String) -> Bool {
        let own = (path as NSString).deletingLastPathComponent
        return ["", own, "docs"].contains { folder in
            FileManager.default.fileExists(
                atPath: Self.root.appendingPathComponent(folder).appendingPathComponent(page).path
            )
        }
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The folders that are written by people; others hold what builds and tests leave behind.
    private static let folders = [".ci", "Sources", "Tests", "docs", "migrations", "schema", "scripts"]

    static func all() -> [TextFile] {
        let manager = FileManager.default
        let top = (try? manager.contentsOfDirectory(atPath: root.path)) ?? []
        let inside = folders.flatMap { folder in
            (manager.enumerator(atPath: root.appendingPathComponent(folder).path)?.compactMap { $0 as? String } ?? [])
                .filter { !$0.hasPrefix(".") && !$0.contains("/.") }.map { folder + "/" + $0 }
        }
        return (top + inside).sorted().compactMap { path in
            guard let text = try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8) else {
                return nil
            }
            return TextFile(path: path, text: text)
        }
    }
}
