import Foundation
import JSON
import Testing

@Suite("Settings that are reloaded", .timeLimit(.minutes(5)))
struct ReloadTests {
    private static let path = "tocsin.toml"

    private static func write(_ text: String, _ installation: Installation, _ file: String = path) throws {
        try text.write(toFile: installation.folder + "/" + file, atomically: true, encoding: .utf8)
    }

    private static func hangUp(_ installation: Installation, until text: String) async throws {
        try await ReloadSite(installation).hangUp(until: text)
    }

    @Test("origins, routes, categories, rates and the log's level hold from the next request on; a port waits")
    func taken() async throws {
        let prepare = { (installation: Installation) in
            try Self.write("log-level = \"notice\"\n", installation)
            installation.options = ["--config", installation.folder + "/" + Self.path]
        }
        try await Installation.run(prepare: prepare) { installation in
            let token = try await installation.addUser("ada")
            #expect(try await installation.http("/mine", token: token).status == 404)
            try Self.write(Self.route, installation, "routes.json")
            try Self.write(
                #"{"categories": [{"id": "MINE", "actions": [{"id": "GO", "title": "Go"}]}]}"#,
                installation,
                "categories.json"
            )
            let folder = installation.folder
            let settings = """
                log-level = "info"
                allowed-origins = ["https://a.example"]
                routes = "\(folder)/routes.json"
                categories = "\(folder)/categories.json"
                socket-lifetime-seconds = 7000

                """
            try Self.write(settings, installation)
            try await Self.hangUp(installation, until: ReloadSite.applied)
            #expect(try await installation.http("/mine", token: token).json == ["name": "ada"])
            let origin = ["--header", "Origin: https://a.example"]
            let answer = try await installation.http("/healthz", origin)
            #expect(answer.header("access-control-allow-origin") == "https://a.example")
            let categories = try await installation.curl("{ notificationCategories { id } }", token: token)
            #expect(categories.serializedString().contains("MINE"), "\(categories)")
            try await eventually("requests are logged now") { installation.log.contains(#""level":"info""#) }
            let waiting = installation.logLines.filter { $0["message"] == "a changed setting needs a restart" }
            #expect(waiting.map { $0["setting"] } == ["socket-lifetime-seconds"], "\(waiting)")

            try Self.write(settings + "rate-per-second = 0.001\nrate-burst = 1\n", installation)
            try await Self.hangUp(installation, until: ReloadSite.applied)
            #expect(try await installation.http("/mine", token: token).status == 200)
            #expect(try await installation.http("/mine", token: token).status == 429)
            #expect(try await installation.stopServer() == 0)
        }
    }

    private static let route = #"""
        {"routes": [{"method": "GET", "path": "/mine", "document": "{ me { username } }", "answer": {"name": "{me.username}"}}]}
        """#

    @Test("a file with mistakes changes nothing, and each mistake has a line of the log")
    func refused() async throws {
        let prepare = { (installation: Installation) in
            try Self.write("allowed-origins = [\"https://a.example\"]\n", installation)
            installation.options = ["--config", installation.folder + "/" + Self.path]
        }
        try await Installation.run(prepare: prepare) { installation in
            try Self.write("allowed-origins = [\"b\"]\npage-rows = \"many\"\n", installation)
            try await Self.hangUp(installation, until: ReloadSite.refused)
            try await eventually("both lines are there") {
                installation.logLines.filter { $0["message"]?.stringValue?.hasPrefix(ReloadSite.refused) == true }
                    .compactMap { $0["reason"]?.stringValue?.contains("allowed-origins") }.sorted { $0 && !$1 }
                    == [true, false]
            }
            let origin = ["--header", "Origin: https://a.example"]
            let answer = try await installation.http("/healthz", origin)
            #expect(answer.header("access-control-allow-origin") == "https://a.example")
            try Self.write("allowed-origins = [\"https://b.example\"]\n", installation)
            try await Self.hangUp(installation, until: ReloadSite.applied)
            let list = ["audit", "list", "--action", "settings.reload", "--json"]
            try await eventually("the audit has both reloads, with what each changed") {
                let rows = try await installation.administer(list).split(separator: "\n").map {
                    try JSONParser.parse(String($0))
                }
                return rows.map { $0["outcome"] } == ["DONE", "REFUSED"]
                    && rows.first?["detail"]?.serializedString().contains("allowed-origins") == true
            }
        }
    }

    @Test("a schema waits for a restart, and one that would stop it refuses the reload")
    func schema() async throws {
        let prepare = { (installation: Installation) in
            try Self.write("rate-burst = 100\n", installation)
            installation.options = ["--config", installation.folder + "/" + Self.path]
        }
        try await Installation.run(prepare: prepare) { installation in
            let model = installation.folder + "/model.graphql"
            try Self.write("rate-burst = 200\nschema = \"\(model)\"\n", installation)
            for (text, words) in [(nil, "cannot be read"), ("type Topic {", "Syntax Error")] as [(String?, String)] {
                if let text { try Self.write(text, installation, "model.graphql") }
                let refused = try await installation.attempt(["admin", "reload"])
                #expect(refused.status == 1 && refused.errors.contains(words), "\(refused)")
            }
            let settings = try JSONParser.parse(try await installation.administer(["admin", "settings"]))
            #expect(settings["rate-burst"]?["value"] == "100", "\(settings)")
            try Self.write(Self.model, installation, "model.graphql")
            let outcome = try JSONParser.parse(try await installation.administer(["admin", "reload"]))
            #expect(outcome["changed"] == ["rate-burst"] && outcome["pendingRestart"] == ["schema"], "\(outcome)")
        }
    }

    private static let model = """
        type Topic @model @auth(rules: [{ allow: owner }]) {
          id: ID!
          name: String! @index(name: "byName", queryField: "getTopicByName")
          arn: String!
        }
        type Message @model @auth(rules: [{ allow: owner, operations: [create, read] }]) {
          id: ID!
          type: Int!
          title: String!
          body: String!
          createdAt: AWSDateTime!
          topicId: ID! @index(name: "byTopicIdAndCreatedAt", sortKeyFields: ["createdAt"],
            queryField: "getMessageByTopicIdAndCreatedAt")
        }

        """

    @Test("another key of Apple's is used at the next push, over a new connection; the first one may come back")
    func applesKey() async throws {
        let simulator = ["--other-key", "SIMTEAM001/SIMOTHER01/com.example.tocsin"]
        let prepare = { (installation: Installation) in
            let key = installation.environment.removeValue(forKey: "APNS_KEY_ID") ?? ""
            try Self.write("apns-key-id = \"\(key)\"\n", installation)
            try Self.write(key, installation, "first-key")
            installation.options = ["--config", installation.folder + "/" + Self.path]
        }
        try await Installation.run(simulator: simulator, prepare: prepare) { installation in
            let scene = try await PushScene(installation, phones: [PushScene.phone("aa")])
            let first = try String(contentsOfFile: installation.folder + "/first-key", encoding: .utf8)
            try await scene.untilStatuses(try await scene.publish("one"), ["ACCEPTED": 1])
            let connections = try await scene.stat("apns", "connections")
            for (number, key) in ["SIMOTHER01", first].enumerated() {
                try Self.write("apns-key-id = \"\(key)\"\n", installation)
                try await Self.hangUp(installation, until: ReloadSite.applied)
                try await scene.untilStatuses(try await scene.publish("by \(key)"), ["ACCEPTED": 1])
                #expect(try await scene.stat("apns", "connections") == connections + Int64(number) + 1)
            }
        }
    }

    @Test("SIGHUP ends the server neither while it starts nor while it stops")
    func early() async throws {
        try await Installation.run { installation in
            _ = try await installation.stopServer()
            let ready = installation.folder + "/again.ready"
            let process = try ChildProcess(
                try TestBinary.path(),
                ["serve", "--port", "0", "--data-dir", installation.folder + "/data", "--ready-file", ready],
                environment: TestBinary.environment,
                folder: installation.folder
            )
            defer { process.signal(SIGKILL) }
            try await eventually("the program has begun") { Self.ignoresHangups(process) }
            try await eventually("the server is ready") {
                process.signal(SIGHUP)
                return FileManager.default.fileExists(atPath: ready)
            }
            process.signal(SIGTERM)
            let status = try await eventually("the server has stopped") { () -> Int32? in
                process.signal(SIGHUP)
                return process.status
            }
            #expect(status == 0)
        }
    }

    /// Whether the process catches or ignores SIGHUP by now (proc(5)).
    private static func ignoresHangups(_ process: ChildProcess) -> Bool {
        let status = (try? String(contentsOfFile: "/proc/\(process.processID)/status", encoding: .utf8)) ?? ""
        let masks = status.split(separator: "\n").filter { $0.hasPrefix("SigIgn:") || $0.hasPrefix("SigCgt:") }
        return masks.contains { line in
            line.last?.hexDigitValue.map { $0 & 1 == 1 } ?? false
        }
    }
}
