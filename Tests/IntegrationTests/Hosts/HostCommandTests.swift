import Foundation
import JSON
import Testing

/// The commands of a host in front of a server itself.
@Suite("Hosts in front of a server", .timeLimit(.minutes(5)))
struct HostCommandTests {
    /// A host with its keys, and what became of its posts.
    private struct Stage {
        let scene: ReceiverScene
        let host: HostScene
        var port: Int { scene.installation.server?.port ?? 0 }

        func file(_ name: String, _ key: String) throws -> String {
            let path = host.folder + "/" + name
            try (key + "\n").write(toFile: path, atomically: true, encoding: .utf8)
            return path
        }

        func run(
            _ arguments: [String],
            _ keyFile: String,
            _ environment: [String: String] = [:],
            input: String? = nil
        ) async throws {
            let variables = environment.merging(["TOCSIN_KEY_FILE": keyFile]) { $1 }
            let result = try await host.tocsin(arguments, port: port, input: input, environment: variables)
            #expect(result.status == 0, "\(arguments): \(result.errors)")
        }

        /// The incidents by key, as state and title.
        func incidents() async throws -> [String: String] {
            let answer = try await scene.installation.curl(
                "{ listIncidents { items { key state title priority } } }",
                token: scene.ada
            )
            let items = answer["data"]?["listIncidents"]?["items"]?.arrayValue ?? []
            return Dictionary(
                items.map {
                    (
                        $0["key"]?.stringValue ?? "",
                        "\($0["state"]?.stringValue ?? "") \($0["title"]?.stringValue ?? "")"
                    )
                },
                uniquingKeysWith: { $0 + ", " + $1 }
            )
        }
    }

    @Test("events, mails, pings and notifications of Nagios and Icinga arrive, through an outage too")
    func all() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            try await HostScene.run { host in
                let stage = Stage(scene: scene, host: host)
                let eventKey = try stage.file("event.key", try await scene.way("EVENT").key)
                let mailKey = try stage.file("mail.key", try await scene.way("MAIL").key)
                let spool = ["--spool", host.spool]
                try await events(of: stage, eventKey, spool)
                try await notifications(to: stage, eventKey, spool)
                try await mails(of: stage, mailKey, spool)
                try await pings(of: stage)
                #expect(host.waiting().isEmpty && host.waiting("/refused").isEmpty)
            }
        }
    }

    /// An incident from its beginning to its end, of which a part waits for the server.
    private func events(of stage: Stage, _ key: String, _ spool: [String]) async throws {
        let trigger = ["event", "trigger", "--key", "db-3/disk", "--title", "Disk full", "--severity", "critical"]
        try await stage.run(trigger + spool, key)
        #expect(try await stage.incidents() == ["db-3/disk": "OPEN Disk full"])
        try await stage.scene.installation.killAndRestartServer {
            try await stage.run(["event", "acknowledge", "--key", "db-3/disk"] + spool, key)
            try await stage.run(["event", "log", "--title", "Disks", "--body", "91 %"] + spool, key)
            #expect(stage.host.waiting().count == 2)
        }
        try await stage.host.flush(port: stage.port)
        #expect(try await stage.incidents() == ["db-3/disk": "ACKNOWLEDGED Disk full"])
        try await stage.run(["event", "resolve", "--key", "db-3/disk"] + spool, key)
        #expect(try await stage.incidents() == ["db-3/disk": "RESOLVED Disk full"])
        #expect(try await stage.scene.messages().filter { $0["title"] == "Disks" && $0["body"] == "91 %" }.count == 1)
    }

    /// A problem, its acknowledgement and its end, as both programs tell them.
    private func notifications(to stage: Stage, _ key: String, _ spool: [String]) async throws {
        for (program, prefix) in [("nagios", "NAGIOS_"), ("icinga", "")] {
            for (type, state, expected) in [
                ("PROBLEM", "CRITICAL", "OPEN"), ("ACKNOWLEDGEMENT", "CRITICAL", "ACKNOWLEDGED"),
                ("RECOVERY", "OK", "RESOLVED"),
            ] {
                let variables = [
                    "NOTIFICATIONTYPE": type, "HOSTNAME": program, "SERVICEDESC": "Disk", "SERVICESTATE": state,
                    "SERVICEOUTPUT": "91 % used",
                ]
                let named = Dictionary(uniqueKeysWithValues: variables.map { (prefix + $0, $1) })
                try await stage.run(["event", program] + spool, key, named)
                let said = try await stage.incidents()["\(program)/Disk"] ?? "nothing"
                #expect(said.hasPrefix(expected), "\(program) \(type): \(said)")
            }
        }
    }

    private func mails(of stage: Stage, _ key: String, _ spool: [String]) async throws {
        let mail = "Subject: Cron <root@db-3> backup\nMessage-ID: <1@db-3>\n\ntar: disk full\n"
        try await stage.scene.installation.killAndRestartServer {
            try await stage.run(["sendmail"] + spool + ["-i", "root"], key, input: mail)
        }
        try await stage.host.flush(port: stage.port)
        // The same mail once more.
        try await stage.run(["sendmail"] + spool + ["-i", "root"], key, input: mail)
        let said = try await stage.scene.messages().filter { $0["title"] == "Cron <root@db-3> backup" }
        #expect(said.count == 1 && said[0]["body"]?.stringValue?.contains("tar: disk full") == true, "\(said)")
    }

    /// A job that fails, and the next one that does not.
    private func pings(of stage: Stage) async throws {
        let add = ["monitor", "add", "Backup", "--slug", "backup", "--topic", "alerts", "--every", "3600", "--json"]
        let made = try await stage.scene.installation.tocsin(add, token: stage.scene.ada)
        let key = try stage.file("ping.key", try JSONParser.parse(made.output)["key"]?.stringValue ?? "")
        let command = ["ping", "--key-file", key, "--", "/bin/sh", "-c"]
        let failed = try await stage.host.tocsin(command + ["echo disk full; exit 3"], port: stage.port)
        #expect(failed.status == 3 && failed.output == "disk full\n")
        #expect(try await stage.incidents()["monitor/backup"] == "OPEN Backup failed with status 3")
        try await stage.run(command + ["true"], key)
        #expect(try await stage.incidents()["monitor/backup"] == "RESOLVED Backup failed with status 3")
    }
}
