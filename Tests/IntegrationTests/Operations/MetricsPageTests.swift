import Foundation
import Testing
import TocsinSQLite

@Suite("docs/metrics.md", .timeLimit(.minutes(5)))
struct MetricsPageTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/metrics.md")
    /// The last line that is written by hand.
    private static let mark = "<!-- The rest is written by the program: "

    @Test("its table has every series of a server, as the server tells them; UPDATE_GOLDEN=1 rewrites it")
    func table() async throws {
        try await Installation.run { installation in
            guard installation.database is SQLiteDatabase else { return }
            _ = try await installation.addUser("ada")
            let token = try await installation.makeMetricsToken(user: "ada")
            let text = try await eventually("the database's figures are read") {
                let text = try await installation.metrics(token)
                return text["tocsin_metrics_refresh_age_seconds"] == nil ? nil : text
            }
            let page = try String(contentsOf: Self.file, encoding: .utf8)
            let mark = try #require(page.range(of: Self.mark))
            let end = try #require(page[mark.upperBound...].firstIndex(of: "\n"))
            let known = Self.names(page[..<mark.lowerBound])
            let rows = text.families.filter { !known.contains($0.name) }.map(Self.row)
            let written = page[...end] + (Self.head + rows).joined(separator: "\n") + "\n"
            if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
                try String(written).write(to: Self.file, atomically: true, encoding: .utf8)
            } else {
                #expect(page == written, "docs/metrics.md differs; rewrite it with UPDATE_GOLDEN=1")
            }
        }
    }

    /// The names that the page has in the first cells of its tables.
    static func names(_ page: some StringProtocol) -> Set<String> {
        Set(
            page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map {
                String($0.dropFirst(3).prefix { $0 != "`" })
            }
        )
    }

    /// Those of the whole page.
    static func names() throws -> Set<String> { names(try String(contentsOf: file, encoding: .utf8)) }

    private static let head = ["", "| Series | Type | Labels | Means |", "|---|---|---|---|"]

    private static func row(_ name: String, _ family: MetricsText.Family) -> String {
        // What is always there as a whole is listed; gauges and requests come and go.
        let isWhole = family.type != "gauge" && !name.hasPrefix("http_")
        let labels = family.labels.map { label in
            isWhole ? "\(label.name) (\(label.values.joined(separator: " ")))" : label.name
        }
        let cell = labels.isEmpty ? "–" : labels.joined(separator: ", ")
        return "| `\(name)` | \(family.type) | \(cell) | \(family.help) |"
    }
}
