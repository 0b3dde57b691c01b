import Foundation
import Testing

/// Each row of docs/feature-map.md is shown by tests that it names.
@Suite("Feature map")
struct FeatureMapTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    private static func page() throws -> MarkdownPage {
        try #require(MarkdownPage.all.first { $0.path == "docs/feature-map.md" })
    }

    @Test("each row of a document has a test that names it, and each test that is named is there")
    func rows() throws {
        let lines = try Self.page().lines
        let starts = lines.indices.filter { lines[$0].hasPrefix("## ") && lines[$0].contains(". ") }
        #expect(starts.count == 5)
        let end = try #require(lines.firstIndex(of: "## Not there yet"))
        for (start, next) in zip(starts, starts.dropFirst() + [end]) {
            let section = MarkdownPage(path: "docs/feature-map.md", lines: Array(lines[start..<next]))
            for item in section.items { try Self.check(item) }
            // The rules' own page has a test for each.
            let shown = section.items.joined(separator: "\n") + "\nA32"
            for row in section.prose.flatMap({ Self.rows(named: $0.text) }) {
                #expect(Self.rows(named: "| \(shown) |", anywhere: true).contains(row), "\(row) has no test")
            }
        }
    }

    @Test("each test of the founding rows stands on the page")
    func complete() throws {
        let named = try Self.page().items.joined(separator: "\n")
        let folder = Self.tests.appendingPathComponent("IntegrationTests/FoundingRows")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count > 10)
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /@Test\(\s*"([A-E]\d[^"]*)"/) {
                #expect(named.contains("\"\(match.output.1)\""), "\(match.output.1) is not on the page")
            }
        }
    }

    @Test("C7, D14: the modules that the map names are there")
    func modules() throws {
        let sources = SourceFile.all(below: "Sources/TocsinContent").flatMap(\.lines).joined(separator: "\n")
        let names = [
            "KeyStore", "RegistrationProof", "ProofSigner", "PushContent", "EPNSPayload", "DevicePayload",
            "ShownMessages", "PushReception", "LinkTable",
        ]
        let page = try Self.page().lines.joined(separator: "\n")
        for name in names {
            #expect(page.contains("`\(name)`"))
            let declared = try Regex("public (struct|enum|protocol|final class|actor) \(name)\\b")
            #expect(sources.contains(declared), "\(name)")
        }
    }

    /// The rows that the first cell of a table's line names, or the whole text; `A22–A25` are four.
    private static func rows(named line: String, anywhere: Bool = false) -> Set<String> {
        let cell = anywhere ? line : line.firstMatch(of: /^\| ([A-E]\d[^|]*) \|/).map { String($0.output.1) } ?? ""
        var rows: Set<String> = []
        for match in cell.matches(of: /\b([A-E])(\d+)(?:–[A-E](\d+))?\b/) {
            guard let first = Int(match.output.2) else { continue }
            let last = match.output.3.flatMap { Int($0) } ?? first
            for number in first...max(first, last) { rows.insert("\(match.output.1)\(number)") }
        }
        return rows
    }

    private static func check(_ item: String) throws {
        guard let parts = item.wholeMatch(of: /`([\w\/]+\.(?:swift|py))`: (".+")/)?.output else {
            Issue.record("This is no file and sentence: \(item)")
            return
        }
        let text = try String(contentsOf: tests.appendingPathComponent(String(parts.1)), encoding: .utf8)
        #expect(text.has(parts.2), "\(parts.1) has no test \(parts.2)")
    }
}
