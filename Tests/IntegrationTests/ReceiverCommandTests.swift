import Foundation
import JSON
import Testing

@Suite("tocsin receiver", .timeLimit(.minutes(5)))
struct ReceiverCommandTests {
    private static let body = #"""
        {"heartbeat": {"status": 0, "msg": "timeout"}, "monitor": {"id": 1, "name": "db"}, "msg": "Down"}
        """#

    /// Runs the command in a folder that has these files.
    private static func run(
        _ arguments: [String],
        files: [String: String] = [:]
    ) async throws -> (status: Int32, output: String, errors: String) {
        let folder = NSTemporaryDirectory() + "tocsin-receiver-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let files = files.merging(["body.json": body], uniquingKeysWith: { own, _ in own })
        for file in files {
            try file.value.write(toFile: folder + "/" + file.key, atomically: true, encoding: .utf8)
        }
        return try await TestBinary.run(
            ["receiver"] + arguments.map { files[$0] == nil ? $0 : folder + "/" + $0 },
            folder: folder
        )
    }

    @Test("list names the receivers that ship, and those of a file with their names")
    func list() async throws {
        let shipped = try await Self.run(["list"])
        #expect(shipped.status == 0, "\(shipped.errors)")
        for name in ["github", "sentry", "uptime-kuma", "zabbix", "generic"] { #expect(shipped.output.contains(name)) }
        let own = try await Self.run(
            ["list", "--json", "--receivers", "mine.json"],
            files: ["mine.json": #"{"receivers": [{"name": "github", "about": "Ours", "rules": []}]}"#]
        )
        let lines = try own.output.split(separator: "\n").map { try JSONParser.parse(String($0)) }
        #expect(lines.count == 16)
        #expect(lines.filter { $0["own"] == true }.map { $0["about"] } == ["Ours"])
    }

    @Test("test prints the events of a body, and ends with 0 where all fits")
    func fits() async throws {
        let result = try await Self.run(["test", "--receiver", "uptime-kuma", "body.json"])
        #expect(result.status == 0, "\(result.errors)")
        let event = try JSONParser.parse(result.output)["events"]?[0]
        #expect(event?["action"] == "trigger" && event?["key"] == "uptime-kuma/1", "\(result.output)")
        #expect(event?["title"] == "db is down")
    }

    @Test("a template of one's own sees headers, query and path")
    func request() async throws {
        let template = """
            {"rules": [{"event": {"action": "log", "title": "{header.X-From} {query.team} {path.1} {monitor.name}"}}]}
            """
        let result = try await Self.run(
            [
                "test", "--template", "t.json", "--headers", "h.txt", "--query", "team=a b&c", "--path", "x/y",
                "body.json",
            ],
            files: ["t.json": template, "h.txt": "X-From: here\nX-Other: there\n"]
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(try JSONParser.parse(result.output)["events"]?[0]?["title"] == "here a b&c x db", "\(result.output)")
    }

    @Test("trouble, a refusal and a wrong signature end with 1")
    func trouble() async throws {
        let files = [
            "t.json": #"{"rules": [{"event": {"action": "{msg}", "title": "t"}}]}"#,
            "refuse.json": #"{"rules": [], "else": "refuse"}"#, "secret": "s3cret\n",
        ]
        let bad = try await Self.run(["test", "--template", "t.json", "body.json"], files: files)
        #expect(bad.status == 1)
        #expect(bad.output.contains("rule 1: \\\"action\\\" ({msg}) became \\\"Down\\\""), "\(bad.output)")
        let refused = try await Self.run(["test", "--template", "refuse.json", "body.json"], files: files)
        #expect(refused.status == 1 && refused.output.contains("422"), "\(refused.output)")
        let unsigned = try await Self.run(
            ["test", "--receiver", "github", "--secret", "secret", "body.json"],
            files: files
        )
        #expect(unsigned.status == 1 && unsigned.output.contains("401"), "\(unsigned.output)")
    }

    @Test(
        "what is asked wrongly is told",
        arguments: [
            (2, ["test", "body.json"], "--receiver NAME or --template FILE"),
            (2, ["test", "--kind", "carrier-pigeon", "body.json"], "There is no kind \"carrier-pigeon\""),
            (2, ["test", "--receiver", "github", "--query", "x", "body.json"], "name=value"),
            (1, ["test", "--receiver", "nobody", "body.json"], "there is no receiver \"nobody\". Known are apprise"),
            (1, ["test", "--receiver", "github", "none.json"], "none.json cannot be read"),
            (
                1, ["test", "--template", "wrong.json", "body.json"],
                "wrong.json: rule 1: event: title: {a | shout}: there is no filter"
            ),
        ] as [(Int32, [String], String)]
    )
    func wrongUse(status: Int32, arguments: [String], words: String) async throws {
        let wrong = #"{"rules": [{"event": {"action": "log", "title": "{a | shout}"}}]}"#
        let result = try await Self.run(arguments, files: ["wrong.json": wrong])
        #expect(result.status == status && result.errors.contains(words), "\(result.status) \(result.errors)")
    }

    @Test("a body of any other kind is read as its product's")
    func kinds() async throws {
        let result = try await Self.run(
            ["test", "--kind", "event", "body.json"],
            files: ["body.json": #"{"action": "trigger", "key": "k", "title": "T"}"#]
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(try JSONParser.parse(result.output)["events"]?[0]?["key"] == "k", "\(result.output)")
    }
}
