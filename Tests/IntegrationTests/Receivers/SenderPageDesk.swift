import Foundation
import JSON

/// A server, keys for it, and a host with the programs that pages call.
final class SenderPageDesk {
    let scene: ReceiverScene
    private var keys: [String: String] = [:]
    private var installation: Installation { scene.installation }
    private var folder: String { installation.folder + "/host" }

    init(_ installation: Installation) async throws {
        scene = try await ReceiverScene(installation)
        let arguments = [
            "monitor", "add", "Backup", "--slug", "backup", "--topic", "alerts", "--every", "3600", "--json",
        ]
        let made = try await installation.tocsin(arguments, token: scene.ada)
        guard let key = try JSONParser.parse(made.output)["key"]?.stringValue else { throw HarnessFailure(made.errors) }
        keys["MONITOR"] = key
        try await makeHost()
    }

    /// Posts of the host that the server has not taken.
    var unsent: [String] {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder + "/var/spool/tocsin")) ?? []
        return names.filter { $0.hasSuffix(".post") }
    }

    // MARK: Keys

    private func key(_ kind: String) async throws -> String {
        if let key = keys[kind] { return key }
        let receiver = Self.receiver(of: kind)
        let more: JSONObject = receiver.map { ["receiver": .string($0)] } ?? [:]
        let key = try await scene.way(receiver == nil ? kind : "TEMPLATE", more).key
        keys[kind] = key
        return key
    }

    /// The receiver that ships whose key is meant, as in `TEMPLATE github`.
    private static func receiver(of kind: String) -> String? {
        kind.hasPrefix("TEMPLATE ") ? String(kind.dropFirst("TEMPLATE ".count)) : nil
    }

    /// The kind whose key a page's text means.
    private static func kind(of page: SenderPage) -> String {
        switch page.name {
        case "heartbeats", "monitoring", "zabbix", "templates": "MONITOR"
        case "events", "hosts", "nagios", "icinga": "EVENT"
        case "prometheus": "ALERTMANAGER"
        case "aws": "TEMPLATE aws-sns"
        case "apprise", "github", "sentry", "uptime-kuma": "TEMPLATE " + page.name
        default: page.name.uppercased()
        }
    }

    /// The kind whose key an address takes.
    private static func kind(of path: String, _ page: SenderPage) -> String {
        let kinds = [
            "/in/alertmanager": "ALERTMANAGER", "/in/grafana": "GRAFANA", "/in/cloudevents": "CLOUDEVENTS",
            "/v2/": "PAGERDUTY", "/hooks/": "SLACK", "/services/": "SLACK", "/message": "GOTIFY",
            "/ping/KEY/backup": "HEARTBEAT", "/ping/": "MONITOR", "/api/push/": "MONITOR",
        ]
        return kinds.filter { path.hasPrefix($0.key) }.max { $0.key.count < $1.key.count }?.value ?? kind(of: page)
    }

    // MARK: Addresses

    /// What the sender of a kind posts.
    private static func recorded(_ kind: String) throws -> RecordedPost {
        let names = [
            "ALERTMANAGER": "alertmanager-firing", "GRAFANA": "grafana-firing", "CLOUDEVENTS": "cloudevents-structured",
            "PAGERDUTY": "pagerduty-alertmanager-trigger", "SLACK": "slack-alertmanager-firing",
            "GOTIFY": "gotify-python", "EVENT": "event-list", "MAIL": "mail-cron",
        ]
        if let receiver = receiver(of: kind) {
            let folder = "\(SenderPage.root)/Tests/TocsinReceiversTests/Receivers/\(receiver)"
            let first = try FileManager.default.contentsOfDirectory(atPath: folder).sorted().first ?? ""
            return try RecordedPost(path: "\(folder)/\(first)")
        }
        guard let name = names[kind] else { throw HarnessFailure("Nothing is recorded of \(kind).") }
        return try RecordedPost(path: "\(SenderPage.root)/Tests/TocsinReceiversTests/Recorded/\(name).json")
    }

    /// Posts what the page's sender posts; it must be taken.
    func post(to address: SenderPage.Address, _ page: SenderPage) async throws {
        let kind = Self.kind(of: address.path, page)
        let key = try await key(kind)
        let path = SenderPage.filled(address.path, address: "", key: key)
        let answer: HTTPAnswer
        if address.method == "GET" || ["MONITOR", "HEARTBEAT"].contains(kind) {
            answer = try await installation.http(path)
        } else if address.path.hasSuffix("/change/enqueue") {
            let file = SenderPage.root + "/Tests/TocsinReceiversTests/Recorded/pagerduty-change.json"
            answer = try await RecordedPost(path: file).send(to: path, key: key, installation)
        } else {
            answer = try await Self.recorded(kind).send(to: path, key: key, installation)
        }
        guard (200..<300).contains(answer.status) else { throw HarnessFailure("\(answer.status): \(answer.body)") }
    }

    // MARK: Blocks

    /// Tries a block; false where nobody knows how.
    func attempt(_ block: SenderPage.Block, _ page: SenderPage) async throws -> Bool {
        let text = block.text
        switch block.language {
        case "sh": return true
        case "console": return try await runCommands(text, page)
        case "yaml" where text.hasPrefix("groups:"): try await checkPrometheus("rules", text)
        case "yaml" where text.hasPrefix("rule_files:"): try await checkPrometheus("config", text)
        case "yaml": try await checkAlertmanager(text, page)
        case "json": try await postJSON(text, page)
        case "text" where text.hasPrefix("#!"): try await run(text, page, smartd: true)
        case "text" where text.hasPrefix("routes:"): try await checkAlertmanager(text, page)
        case "text" where text.contains("command_line"): try await runNagios(text, page)
        case "text" where text.contains("NotificationCommand"): try await runIcinga(text, page)
        case "text" where text.hasPrefix("TOCSIN_"): try await checkSettings(text)
        default: return false
        }
        return true
    }

    private func postJSON(_ text: String, _ page: SenderPage) async throws {
        let path = page.addresses.map(\.path).filter { !$0.contains("change") }.sorted().first ?? "/in/KEY"
        let key = try await key(Self.kind(of: path, page))
        let body = SenderPage.filled(text, address: installation.address, key: key)
        _ = try JSONParser.parse(body)
        let answer = try await scene.post(SenderPage.filled(path, address: "", key: key), body)
        guard (200..<300).contains(answer.status) else { throw HarnessFailure("\(answer.status): \(answer.body)") }
    }

    private func checkSettings(_ text: String) async throws {
        for line in text.split(separator: "\n") {
            let parts = line.replacing("…", with: "").split(separator: "=", maxSplits: 1).map(String.init)
            let result = try await TestBinary.run(
                ["settings", "check", "--data-dir", installation.folder + "/data"],
                with: [parts[0]: parts[1]],
                folder: installation.folder
            )
            let isKnown = !(result.output + result.errors).contains("is not a setting")
            guard result.status == 0, isKnown else {
                throw HarnessFailure("\(line): \(result.output) \(result.errors)")
            }
        }
    }

    /// Has `amtool` judge the configuration where it is there, and posts to each address in it.
    private func checkAlertmanager(_ text: String, _ page: SenderPage) async throws {
        let begin = page.blocks.first { $0.language == "yaml" && $0.text.hasPrefix("receivers:") }?.text
        var configuration = text
        if text.hasPrefix("routes:") {
            let inner = text.split(separator: "\n").map { "  \($0)\n" }.joined()
            configuration = "route:\n  receiver: tocsin\n\(inner)receivers:\n- name: tocsin\n"
        } else {
            if !text.hasPrefix("receivers:") { configuration = (begin ?? "") + text }
            configuration += "route: { receiver: tocsin }\n"
        }
        if let amtool = Self.amtool {
            let file = installation.folder + "/alertmanager.yml"
            let filled = SenderPage.filled(
                configuration,
                address: installation.address,
                key: try await key("ALERTMANAGER")
            )
            try filled.write(toFile: file, atomically: true, encoding: .utf8)
            let result = try await ChildProcess.run(
                amtool,
                ["check-config", file],
                environment: TestBinary.environment,
                folder: installation.folder
            )
            guard result.status == 0 else { throw HarnessFailure("amtool: \(result.output) \(result.errors)") }
        }
        for match in text.matches(of: /url: "?https:\/\/tocsin(?:-[0-9])?\.example(\/[^"\s,]+)/) {
            try await post(to: SenderPage.Address(method: nil, path: String(match.output.1)), page)
        }
    }

    /// Has `promtool` judge rules, or the configuration that names them, where it is there.
    private func checkPrometheus(_ part: String, _ text: String) async throws {
        let tools = ["/usr/bin/promtool", SenderPage.root + "/.venv/prometheus/usr/bin/promtool"]
        guard let promtool = tools.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else { return }
        let file = installation.folder + (part == "rules" ? "/rules.yml" : "/prometheus.yml")
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let result = try await ChildProcess.run(
            promtool,
            ["check", part, file],
            environment: TestBinary.environment,
            folder: installation.folder
        )
        guard result.status == 0 else { throw HarnessFailure("promtool: \(result.output) \(result.errors)") }
    }

    private static var amtool: String? {
        ["/usr/bin/amtool", SenderPage.root + "/.venv/alertmanager/usr/bin/amtool"]
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    // MARK: Commands

    /// Programs that are driven elsewhere.
    private static let drivenElsewhere = ["apprise": "Tests/Clients/senders.py posts with Apprise."]

    private func runCommands(_ text: String, _ page: SenderPage) async throws -> Bool {
        var commands: [String] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("$ ") {
                commands.append(String(line.dropFirst(2)))
            } else if let job = line.firstMatch(of: /^(?:[0-9*]\S* +){5}(.+)$/) {
                // cron has a sign for the end of a line.
                commands.append("bash -c '\(job.output.1.replacing("\\%", with: "%"))'")
            } else if let alias = line.firstMatch(of: /^[a-z]+: "\|(.+)"$/) {
                commands.append("\(alias.output.1) < mail.eml")
            } else if let last = commands.popLast() {
                commands.append(last + "\n" + line)
            } else {
                return false
            }
        }
        commands.removeAll { command in Self.drivenElsewhere.keys.contains { command.hasPrefix($0 + " ") } }
        try await run(commands.joined(separator: "\n") + "\n", page)
        return true
    }

    private static let macros = [
        "NOTIFICATIONTYPE": "PROBLEM", "HOSTNAME": "db-3", "SERVICEDESC": "Disk", "SERVICESTATE": "CRITICAL",
        "SERVICEOUTPUT": "91 % used",
    ]

    private func runNagios(_ text: String, _ page: SenderPage) async throws {
        for match in text.matches(of: /command_line +(.+)/) {
            var command = String(match.output.1)
            for (name, value) in Self.macros { command = command.replacing("$\(name)$", with: value) }
            let isNamed = match.output.1.contains("NAGIOS_")
            let variables = Self.macros.map { ("NAGIOS_" + $0, $1) }
            try await run(command + "\n", page, isNamed ? [:] : Dictionary(uniqueKeysWithValues: variables))
        }
    }

    /// Runs each command that Icinga would, with its variables.
    private func runIcinga(_ text: String, _ page: SenderPage) async throws {
        let values = [
            "notification.type": "PROBLEM", "notification.author": "ada", "notification.comment": "on it",
            "host.name": "db-3", "address": "192.0.2.3", "host.state": "DOWN", "host.output": "no answer",
            "host.notes_url": "https://wiki.example/db-3", "service.name": "Disk", "service.state": "CRITICAL",
            "service.output": "91 %", "service.notes_url": "https://wiki.example/disk",
        ]
        let parts = text.split(separator: "object NotificationCommand").map(String.init)
        guard let words = text.firstMatch(of: /command = \[ (.+) \]/), parts.count == 3 else {
            throw HarnessFailure("The page's commands cannot be read.")
        }
        let command = words.output.1.replacing("\"", with: "").replacing(",", with: "")
        for part in parts.dropFirst() {
            var variables: [String: String] = [:]
            for match in (parts[0] + part).matches(of: /([A-Z_]+) = "([^"]*)"/) {
                let macro = match.output.2
                let isMacro = macro.hasPrefix("$")
                guard let value = isMacro ? values[String(macro.dropFirst().dropLast())] : String(macro) else {
                    throw HarnessFailure("Icinga has no \(macro).")
                }
                let path = await placed(value, page).trimmingCharacters(in: .newlines)
                variables[String(match.output.1)] = isMacro ? value : path
            }
            try await run(command + "\n", page, variables)
        }
    }

    /// Text of a page, with the host's folder before its paths.
    private func placed(_ text: String, _ page: SenderPage) async -> String {
        let key = (try? await key(Self.kind(of: page))) ?? ""
        var text = "\n" + SenderPage.filled(text, address: installation.address, key: key)
        text = text.replacing(" -g tocsin", with: "")
        for before in [" ", "\"", "\n", "="] {
            for top in ["/etc/", "/usr/", "/var/spool/"] {
                text = text.replacing(before + top, with: before + folder + top)
            }
        }
        return text
    }

    private func run(
        _ commands: String,
        _ page: SenderPage,
        _ variables: [String: String] = [:],
        smartd: Bool = false
    ) async throws {
        var environment = TestBinary.environment
        environment["PATH"] = "\(folder)/usr/bin:\(folder)/usr/sbin:/usr/bin:/bin"
        environment["TOCSIN_URL"] = installation.address
        environment["TOCSIN_TOKEN"] = scene.ada
        environment["TOCSIN_KEY_FILE"] = "\(folder)/etc/tocsin/mail.key"
        environment["MAIL_KEY"] = try await key("MAIL")
        environment["EVENT_KEY"] = try await key("EVENT")
        if smartd {
            environment["SMARTD_DEVICE"] = "/dev/sda"
            environment["SMARTD_SUBJECT"] = "SMART error on sda"
            environment["SMARTD_FULLMESSAGE"] = "91 sectors"
        }
        environment.merge(variables) { $1 }
        let script = installation.folder + "/" + UUID().uuidString + ".sh"
        let lines = await placed(commands, page)
        let text = "set -eu -o pipefail\ncd '\(folder)'" + lines
        try text.write(toFile: script, atomically: true, encoding: .utf8)
        let result = try await ChildProcess.run(
            "/bin/bash",
            [script],
            environment: environment,
            folder: installation.folder
        )
        guard result.status == 0 else {
            throw HarnessFailure("\(text)\nended with \(result.status): \(result.output) \(result.errors)")
        }
    }

    /// Folders, keys, and programs in the places of those that a host has.
    private func makeHost() async throws {
        for path in [
            "usr/bin", "usr/sbin", "usr/lib", "usr/local/bin", "etc/tocsin", "etc/default", "var/spool/tocsin/refused",
        ] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(path)", withIntermediateDirectories: true)
        }
        let binary = try TestBinary.path()
        let spool = "--spool '\(folder)/var/spool/tocsin'"
        let programs = [
            "usr/bin/tocsin": """
            case "${0##*/} ${1:-}" in
            sendmail*) exec '\(binary)' sendmail \(spool) "$@" ;;
            "tocsin sendmail") shift; exec '\(binary)' sendmail \(spool) "$@" ;;
            "tocsin event") exec '\(binary)' "$@" \(spool) ;;
            esac
            exec '\(binary)' "$@"
            """,
            "usr/bin/curl": """
            case " $* " in *" -f"*) ;; *) set -- --fail-with-body "$@" ;; esac
            exec /usr/bin/curl --silent --show-error --max-time \(Patience.ofCurl) "$@"
            """,
            "usr/bin/sudo": #"if [ "$1" = -u ]; then shift 2; fi; exec "$@""#,
            "usr/bin/systemctl": #"test -n "$(find '\#(SenderPage.root)/ops' -name "${@: -1}")""#,
            "usr/bin/adduser": "exit 0", "usr/bin/env": #"exec /usr/bin/env "$@""#, "usr/bin/backup.sh": "exit 1",
            "usr/bin/hostname": "echo db-3", "usr/local/bin/backup": "echo 42 files",
        ]
        for (path, text) in programs {
            try "#!/bin/bash\n\(text)\n".write(toFile: "\(folder)/\(path)", atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(folder)/\(path)")
        }
        let mail = "From: root\nSubject: Disk full\nMessage-ID: <1@db-3>\n\n91 %\n"
        try mail.write(toFile: folder + "/mail.eml", atomically: true, encoding: .utf8)
        for (name, kind) in ["mail": "MAIL", "event": "EVENT", "backup": "MONITOR"] {
            try await key(kind).write(toFile: "\(folder)/etc/tocsin/\(name).key", atomically: true, encoding: .utf8)
        }
    }
}
