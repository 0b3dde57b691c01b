import Foundation
import Testing

/// Each rule of docs/security.md can be checked: by the tests that it names.
@Suite("Security rules")
struct SecurityPageTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    @Test("there are six rules, and each names tests that exist, by file and sentence")
    func rules() throws {
        let page = try #require(MarkdownPage.all.first { $0.path == "docs/security.md" })
        let starts = page.lines.indices.filter { page.lines[$0].hasPrefix("## ") }
        #expect(starts.map { page.lines[$0].prefix(5) } == (1...6).map { "## \($0)." })
        for (start, end) in zip(starts, starts.dropFirst() + [page.lines.endIndex]) {
            let rule = MarkdownPage(path: page.path, lines: Array(page.lines[start..<end]))
            #expect(!rule.items.isEmpty, "\(page.lines[start]) names no test")
            for item in rule.items { try check(item) }
        }
    }

    private func check(_ item: String) throws {
        guard let parts = item.wholeMatch(of: /`([\w\/]+\.swift)`: (".+")/)?.output else {
            Issue.record("This is no file and sentence: \(item)")
            return
        }
        let file = Self.tests.appendingPathComponent(String(parts.1))
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.has(parts.2), "\(parts.1) has no test \(parts.2)")
    }

    @Test("no private key stands in the repository, but those of tests")
    func keys() throws {
        let root = Self.tests.deletingLastPathComponent()
        var count = 0
        for folder in [".ci", "Sources", "docs", "migrations", "schema", "scripts"] {
            let paths = FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path)
            for path in paths?.compactMap({ $0 as? String }) ?? [] {
                let url = root.appendingPathComponent(folder).appendingPathComponent(path)
                #expect(!["p8", "p12", "pem", "key"].contains(url.pathExtension), "\(folder)/\(path)")
                guard let text = try? String(contentsOf: url, encoding: .utf8) else { continue }
                count += 1
                guard text.contains("PRIVATE KEY-----") else { continue }
                let key = text.firstMatch(of: /PRIVATE KEY-----\s+[A-Za-z0-9+\/=]{40,}/)
                #expect(key == nil, "\(folder)/\(path) holds a private key")
            }
        }
        #expect(count > 500)
    }
}
