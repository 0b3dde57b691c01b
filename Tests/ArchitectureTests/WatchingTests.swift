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

    @Test(
        "each entry of the runbook says what users feel, has three commands with what they print, causes and what to do"
    )
    func entries() throws {
        let runbook = try #require(MarkdownPage.all.first { $0.path == "docs/runbook.md" })
        let series = try #require(MarkdownPage.all.first { $0.path == "docs/metrics.md" })
        let logs = Self.text("docs/logs.md")
        for alert in Set(Alert.all(of: Self.rules).map(\.name)).sorted() {
            let entry = RunbookEntry(alert, in: runbook.lines)
            for heading in ["**Users feel.**", "**Causes.**", "**Do.**"] {
                #expect(entry.lines.contains { $0.hasPrefix(heading) }, "\(alert) lacks \(heading)")
            }
            #expect(entry.commands.count == 3, "\(alert) has \(entry.commands.count) commands")
            for (place, command) in entry.commands.enumerated() {
                // What mends may print nothing.
                #expect(place == 2 || !command.output.isEmpty, "\(alert): nothing is printed by \(command.text)")
                for program in command.programs {
                    #expect(
                        RunbookEntry.programs.contains(program),
                        "\(alert) runs \(program), which is not known here"
                    )
                }
                for prefix in command.seriesPrefixes {
                    let isThere = series.lines.contains { $0.hasPrefix("| `\(prefix)") }
                    #expect(isThere, "\(alert): no series begins with \(prefix)")
                }
                if let event = command.text.firstMatch(of: /--grep ([a-z_]+)/)?.1 {
                    #expect(logs.contains("`\(event)`"), "\(alert): docs/logs.md lacks \(event)")
                }
            }
        }
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
        // An `or` in brackets is a part of what is compared.
        let text = Self.bare(expression).replacing(#/\( .* \)/#) { $0.output.replacing(" or ", with: " OR ") }
        let terms = text.split(separator: #/ (?:and on \([a-z, ]+\)|and|or) /#)
        let sides = terms.flatMap { $0.split(separator: #/ (?:==|<|>) /#) }.map {
            String($0.replacing(/^[0-9.]+ \* (?=[a-z])/, with: "").replacing(" OR ", with: " or "))
        }
        return sides.filter { ($0.contains("_") || $0 == "up") && !$0.hasPrefix("absent(") }
    }

    /// A query without the job and the node that it is asked for, on one line.
    static func bare(_ query: String) -> String {
        query.replacing(/\s+/, with: " ").replacing(/(?:job="[^"]*"|instance=~"[^"]*")(?:, )?/, with: "")
            .replacing(/, }/, with: "}").replacing("{}", with: "").trimmingCharacters(in: .whitespaces)
    }
}

/// What the runbook says of one alert.
private struct RunbookEntry {
    struct Command {
        let text: String
        var output: [String] = []

        /// The first words of its parts; a word after `sudo` is one, too.
        var programs: [String] {
            let plain = text.replacing(/'[^']*'|"[^"]*"/, with: "TEXT").replacing("$(", with: "| ")
            return plain.split(separator: /\|\|?|&&/).flatMap { part -> [String] in
                let words = part.split(separator: " ").map(String.init)
                return words.first == "sudo" ? Array(words.prefix(2)) : Array(words.prefix(1))
            }
        }

        /// What the lines of `/metrics` that it looks for begin with, without what a regular
        /// expression adds.
        var seriesPrefixes: [String] {
            guard text.hasPrefix("series ") else { return [] }
            return text.matches(of: /'\^\(?([a-z_|]+)/).flatMap { match in
                match.1.split(separator: "|").map { String($0.replacing(/_(?:bucket|count|sum)?$/, with: "")) }
            }
        }
    }

    /// Those of Debian, and the page's two aliases.
    static let programs: Set = [
        "apt-get", "curl", "date", "df", "grep", "head", "journalctl", "jq", "lsof", "nft", "openssl", "psql", "series",
        "sort",
        "sudo", "systemctl", "timedatectl", "tocsin", "uptime", "xargs",
    ]

    let lines: [String]
    let commands: [Command]

    init(_ alert: String, in page: [String]) {
        let below = page.drop { $0 != "### \(alert)" }.dropFirst()
        lines = Array(below.prefix { !$0.hasPrefix("### ") && !$0.hasPrefix("## ") })
        let block = lines.drop { $0 != "```console" }.dropFirst().prefix { $0 != "```" }
        commands = block.reduce(into: []) { commands, line in
            if line.hasPrefix("$ ") {
                commands.append(Command(text: String(line.dropFirst(2))))
            } else if !commands.isEmpty {
                commands[commands.count - 1].output.append(line)
            }
        }
    }
}
