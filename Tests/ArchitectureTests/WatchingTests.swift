import Foundation
import Testing

/// The rules, the board and the runbook that an operator watches by fit each other and the server.
@Suite("Rules, board and runbook")
struct WatchingTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func text(_ path: String) -> String {
        (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""
    }

    private static let rules = text("ops/prometheus/tocsin.rules.yml")
    private static let board = text("ops/grafana/tocsin.json")
    private static let ruleTests = text("ops/prometheus/tests/alerts.yml")

    @Test("each alert has a severity, a summary with its value, an entry in the runbook and a test")
    func complete() throws {
        let runbook = try #require(MarkdownPage.all.first { $0.path == "docs/runbook.md" })
        let alerts = Alert.all(of: Self.rules)
        #expect(alerts.count > 20)
        for alert in alerts {
            #expect(["page", "ticket"].contains(alert.severity), "\(alert.name)")
            #expect(alert.summary.count > 20, "\(alert.name)")
            #expect(Alert.withoutValue.contains(alert.name) != alert.summary.contains("$value"), "\(alert.name)")
            #expect(alert.runbook == "docs/runbook.md#\(alert.name.lowercased())", "\(alert.name)")
            #expect(runbook.lines.contains("### \(alert.name)"), "docs/runbook.md has no entry for \(alert.name)")
            #expect(Self.ruleTests.contains("alertname: \(alert.name)\n"), "\(alert.name) has no test that fires it")
        }
        let entries = runbook.lines.filter { $0.hasPrefix("### Tocsin") }.map { String($0.dropFirst(4)) }
        #expect(Set(entries) == Set(alerts.map(\.name)))
    }

    @Test("each alert has a panel whose query is its expression without the comparison")
    func panels() throws {
        let shown = try Set(Self.queries().map(Alert.bare))
        #expect(shown.count > 40)
        for alert in Alert.all(of: Self.rules) {
            for value in alert.values {
                #expect(shown.contains(value), "no panel shows \(value), by which \(alert.name) is raised")
            }
        }
    }

    @Test("each series that a rule or a panel names is one that docs/metrics.md lists")
    func series() throws {
        let page = try #require(MarkdownPage.all.first { $0.path == "docs/metrics.md" })
        let rows = page.lines.filter { $0.hasPrefix("| `") }.compactMap {
            $0.firstMatch(of: /^\| `([a-z_]+)` \| (\w+) \|/)
        }
        let types = Dictionary(rows.map { (String($0.1), $0.2) }) { first, _ in first }
        for (file, text) in [("rules", Self.rules), ("board", Self.board), ("tests of the rules", Self.ruleTests)] {
            let named = text.matches(of: /(?:tocsin|process|http_server)_[a-z_]+/).map { String($0.output) }
            #expect(named.count > 20)
            for name in Set(named).sorted() {
                let family = String(name.replacing(/_(?:bucket|count|sum)$/, with: ""))
                #expect(
                    types[name] != nil || types[family] == "histogram",
                    "the \(file): \(name) is no series of docs/metrics.md"
                )
            }
        }
    }

    @Test("the board takes its data source and job as inputs, and each panel has a unit and a description")
    func importable() throws {
        let board = try #require(try JSONSerialization.jsonObject(with: Data(Self.board.utf8)) as? [String: Any])
        #expect(board["schemaVersion"] as? Int == 39)
        #expect(!Self.board.contains(/"uid": "(?!\$\{datasource\}|tocsin")[^"]*"/))
        let panels = try #require(board["panels"] as? [[String: Any]]).filter { $0["type"] as? String != "row" }
        for panel in panels {
            let title = panel["title"] as? String ?? ""
            let configuration = panel["fieldConfig"] as? [String: Any]
            let defaults = configuration?["defaults"] as? [String: Any]
            #expect(defaults?["unit"] is String, "\(title)")
            #expect((panel["description"] as? String ?? "").count > 10, "\(title)")
        }
    }

    private static func queries() throws -> [String] {
        let board = try JSONSerialization.jsonObject(with: Data(board.utf8)) as? [String: Any]
        let panels = board?["panels"] as? [[String: Any]] ?? []
        return panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }.compactMap { $0["expr"] as? String }
    }
}

/// One alert of the rules' file.
private struct Alert {
    let name: String
    let expression: String
    let severity: String
    let summary: String
    let runbook: String

    /// What these say is all that there is to say: their value is 0, or the count of what happened.
    static let withoutValue: Set = ["TocsinDown", "TocsinNotReady", "TocsinProviderPaused", "TocsinReloadFailed"]

    static func all(of rules: String) -> [Alert] {
        rules.components(separatedBy: "- alert: ").dropFirst().map { part in
            let body = part.replacing(/expr: >-\n/, with: "expr: ")
            return Alert(
                name: String(part.prefix { $0 != "\n" }),
                expression: value(of: /expr: ((?:.|\n)*?)\n +(?:for|labels):/, body),
                severity: value(of: /severity: (\w+)/, body),
                summary: value(of: /summary: (.*)/, body),
                runbook: value(of: /runbook: (.*)/, body)
            )
        }
    }

    private static func value(of pattern: Regex<(Substring, Substring)>, _ text: String) -> String {
        text.firstMatch(of: pattern).map { String($0.1) } ?? ""
    }

    /// What is compared, bare.
    var values: [String] {
        let terms = Self.bare(expression).split(separator: #/ (?:and on \([a-z, ]+\)|and|or) /#)
        let sides = terms.flatMap { $0.split(separator: #/ (?:==|<|>) /#) }.map {
            String($0.replacing(/^[0-9.]+ \* (?=[a-z])/, with: ""))
        }
        return sides.filter { ($0.contains("_") || $0 == "up") && !$0.hasPrefix("absent(") }
    }

    /// A query without the job and the node that it is asked for, on one line.
    static func bare(_ query: String) -> String {
        query.replacing(/\s+/, with: " ").replacing(/(?:job="[^"]*"|instance=~"[^"]*")(?:, )?/, with: "")
            .replacing(/, }/, with: "}").replacing("{}", with: "").trimmingCharacters(in: .whitespaces)
    }
}
