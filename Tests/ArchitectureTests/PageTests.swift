import Foundation
import Testing

@Suite("Pages")
struct PageTests {
    private static let pages = MarkdownPage.all

    @Test("the pages are found")
    func pagesAreFound() {
        let paths = Self.pages.map(\.path)
        #expect(["README.md", "docs/README.md", "Sources/ARCHITECTURE.md"].allSatisfy(paths.contains))
    }

    @Test("every link within the repository leads to a file, and to a heading where it names one", arguments: pages)
    func links(page: MarkdownPage) {
        for (number, target) in page.links {
            let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let path = parts[0].isEmpty ? page.path : page.path(to: parts[0])
            guard let path, MarkdownPage.exists(path) else {
                Issue.record("\(page.path):\(number) leads to \(target), which is not there")
                continue
            }
            guard parts.count > 1, let other = Self.pages.first(where: { $0.path == path }) else { continue }
            #expect(other.anchors.contains(parts[1]), "\(page.path):\(number): \(path) has no heading \(parts[1])")
        }
    }

    @Test("no line of prose is wider than 100 columns", arguments: pages)
    func widths(page: MarkdownPage) {
        for (number, line) in page.prose where line.count > 100 && !line.hasPrefix("|") && !line.contains("](") {
            Issue.record("\(page.path):\(number) has \(line.count) columns")
        }
    }

    /// `sh` is run by the integration tests; the others are shown only.
    private static let knownMarks: Set<String> = [
        "sh", "caddyfile", "console", "graphql", "http", "ini", "js", "json", "kotlin", "mermaid", "nginx", "python",
        "swift", "text", "toml", "yaml",
    ]

    @Test("every block of code says what it is", arguments: pages)
    func marks(page: MarkdownPage) {
        for (number, mark) in page.marks {
            #expect(Self.knownMarks.contains(mark), "\(page.path):\(number) is marked \"\(mark)\"")
        }
    }

    @Test("every promise names tests and attacks that exist")
    func promises() throws {
        let page = try #require(Self.pages.first { $0.path == "docs/promises.md" })
        let tests = SourceFile.all(below: "Tests").flatMap(\.lines).joined(separator: "\n")
        let attacks = try Self.attacks()
        let items = page.items
        #expect(items.count > 50)
        for item in items {
            if let attack = item.wholeMatch(of: /`scripts\/attacks\.sh ([a-z-]+)`/)?.output.1 {
                #expect(attacks.has("@attack(\"\(attack)\""), "There is no attack \(attack)")
            } else {
                #expect(item.hasPrefix("\"") && tests.has(item), "There is no test \(item)")
            }
        }
    }

    @Test("delivery states lists each reason of our own, and no other")
    func reasons() throws {
        let page = try #require(Self.pages.first { $0.path == "docs/delivery-states.md" })
        let listed = page.prose.filter { $0.text.hasPrefix("| ") }.compactMap {
            $0.text.firstMatch(of: /^\| [A-Z]+ `([A-Z_]+)` \|/)?.output.1
        }
        // In each file the first extensions are ours, and the providers' words come behind.
        let ours = SourceFile.all(below: "Sources").filter {
            $0.path.hasSuffix("/DeliveryReason.swift") || $0.path.hasSuffix("/ProviderReasons.swift")
        }
        let named = ours.flatMap { file in
            file.lines.prefix { !$0.hasPrefix("// Apple's words") }
                .filter { $0.has("static let") }.compactMap {
                    $0.firstMatch(of: /static let \w+: Self = "([A-Z_]+)"/)?.output.1
                }
        }
        #expect(named.count > 20)
        #expect(Set(listed) == Set(named))
    }

    private static func attacks() throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Attacks")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "py" }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
    }

    @Test(
        "headings are called in links what GitHub calls them",
        arguments: [
            ("## Set up", "set-up"), ("# What's in `a_b`?", "whats-in-a_b"), ("### 1. A page, twice", "1-a-page-twice"),
        ]
    )
    func anchors(heading: String, anchor: String) {
        #expect(MarkdownPage(path: "a.md", lines: [heading]).anchors == [anchor])
    }
}
