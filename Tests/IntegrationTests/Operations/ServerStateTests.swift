import JSON
import Testing
import TocsinClient
import TocsinStore

@Suite("What administrators see of the server", .timeLimit(.minutes(5)))
struct ServerStateTests {
    private static func ask(_ fields: String, _ installation: Installation, _ token: String) async throws -> JSONValue {
        try await installation.curl("{ server { \(fields) } }", token: token)
    }

    private static let series =
        "series(names: [\"process_resident_memory_bytes\"], since: \"2026-01-01T00:00:00Z\", step: 15)"

    @Test("an administrator sees the node, providers, settings without secrets, and figures; others see nothing")
    func state() async throws {
        try await Installation.run {
            $0.environment["TOCSIN_NODE"] = "bell"
            $0.environment["TOCSIN_HEARTBEAT_URL"] = "https://127.0.0.1:9/a-secret-path"
        } _: { installation in
            try await installation.administer(["user", "add", "root", "--admin"])
            let root = try await installation.makeToken(user: "root")
            let answer = try await Self.ask(
                """
                node version ready database connections sockets subscriptions peers { node }
                providers { name configured underWay pauses { app } } settings { name value origin pendingRestart }
                """,
                installation,
                root
            )
            let server = try #require(answer["data"]?["server"], "\(answer)")
            #expect(server["node"] == "bell")
            #expect(server["ready"] == true)
            #expect(server["peers"] == .null || installation.database.dialect == .postgres)
            #expect((server["connections"]?.intValue ?? 0) >= 1)
            let providers = try #require(server["providers"]?.arrayValue)
            #expect(providers.compactMap { $0["name"]?.stringValue } == ["apns", "fcm", "webpush"])
            #expect(providers.allSatisfy { $0["configured"] == true }, "\(providers)")
            let settings = try #require(server["settings"]?.arrayValue)
            let node = settings.first { $0["name"] == "node" }
            #expect(node?["value"] == "bell" && node?["origin"] == "TOCSIN_NODE", "\(String(describing: node))")
            #expect(!answer.serializedString().contains("a-secret-path"))

            let others = try await installation.addUser("ada")
            #expect(try await Self.ask("node", installation, others) == ["data": ["server": .null]])
            let narrow = try await installation.makeToken(user: "root", ["--scope", "push"])
            #expect(try await Self.ask("node", installation, narrow) == ["data": ["server": .null]])
        }
    }

    @Test("figures begin at the start, and what cannot be answered is said in words")
    func figures() async throws {
        try await Installation.run { installation in
            try await installation.administer(["user", "add", "root", "--admin"])
            let root = try await installation.makeToken(user: "root")
            let fields = "\(Self.series) { name labels since step points }"
            try await eventually("the first figures are there") {
                let answer = try await Self.ask(fields, installation, root)
                let series = answer["data"]?["server"]?["series"]?.arrayValue ?? []
                guard series.count == 1, series[0]["step"] == 15 else { return false }
                return (series[0]["points"]?.arrayValue?.last?.doubleValue ?? 0) > 1e6
            }
            for (asked, words) in [
                (Self.series.replacing("step: 15", with: "step: 7"), "step must be a multiple of 15"),
                (Self.series.replacing("process_resident_memory_bytes", with: "up"), "No series \"up\" is kept here."),
                (Self.series.replacing("2026-01-01T00:00:00Z", with: "soon"), "Expected a date and time"),
            ] {
                let answer = try await Self.ask("\(asked) { points }", installation, root)
                let message = answer["errors"]?[0]?["message"]?.stringValue ?? ""
                #expect(message.contains(words), "\(answer)")
            }
        }
    }

    @Test("a server that measures nothing says so by null")
    func unmeasured() async throws {
        try await Installation.run {
            $0.environment["TOCSIN_METRICS"] = "false"
        } _: { installation in
            try await installation.administer(["user", "add", "root", "--admin"])
            let root = try await installation.makeToken(user: "root")
            let answer = try await Self.ask("node \(Self.series) { points }", installation, root)
            #expect(answer["data"]?["server"]?["series"] == .null, "\(answer)")
        }
    }
}
