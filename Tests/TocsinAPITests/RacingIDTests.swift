import JSON
import TestDatabases
import Testing
import TocsinCore
import TocsinStore

/// Two nodes store a message under one name at the same moment, each having
/// found that nobody has it.
@Suite("The same id at two nodes at once", .enabled(if: PostgresServer.named != nil), .timeLimit(.minutes(5)))
struct RacingIDTests {
    private struct Order: Sendable {
        var title = "Same"
        var topic: String
        var caller = APIHarness.identity("alice")
    }

    private struct Nodes {
        let database: TemporaryDatabase
        let one: APIHarness
        let other: APIHarness

        init() async throws {
            database = try #require(PostgresServer.named).makeDatabase(waitMilliseconds: 120_000)
            one = try await APIHarness(database: database)
            other = try await APIHarness(database: database, identifiers: CountingIdentifiers(prefix: "other"))
        }

        func count(_ table: String) throws -> Int64? {
            let connection = try database.connect(.reader)
            defer { connection.close() }
            return try connection.first("SELECT count(*) FROM \(table)") { $0.int(0) }
        }
    }

    /// What two orders under one name are answered, each by a node of its own.
    ///
    /// A message's id and key are looked for before its topic's row is locked: where both wait for
    /// that, neither has seen the other.
    private func race(_ first: Order, _ second: Order, by name: String, on nodes: Nodes) async throws -> [JSONValue] {
        let blocker = try nodes.database.connect(.tool)
        defer { blocker.close() }
        try blocker.run("BEGIN")
        try blocker.run("SELECT 1 FROM topics FOR UPDATE")
        let given: JSONObject = [name: "m1"]
        async let one = nodes.one.publish(first.title, to: first.topic, as: first.caller, with: given)
        async let other = nodes.other.publish(second.title, to: second.topic, as: second.caller, with: given)
        try await nodes.database.waitForWaiters(2)
        try blocker.run("ROLLBACK")
        return try await [one, other]
    }

    private func code(_ answer: JSONValue) -> String? {
        answer["errors"]?.arrayValue?.first?["extensions"]?["code"]?.stringValue
    }

    @Test(
        "with the same content both are answered with the one message, which is stored and sent once",
        arguments: ["id", "key"]
    )
    func same(name: String) async throws {
        let nodes = try await Nodes()
        let order = Order(topic: try await nodes.one.makeTopic())
        let answers = try await race(order, order, by: name, on: nodes)
        #expect(answers[0]["number"] == 1)
        #expect(answers[0] == answers[1])
        #expect(try nodes.count("messages") == 1)
        #expect(try nodes.count("deliveries") == 1)
        #expect(try await nodes.one.publish("Next", to: order.topic)["number"] == 2)
    }

    @Test(
        "with other content who comes first is answered with its message, and the other told CONFLICT",
        arguments: ["id", "key"]
    )
    func differing(name: String) async throws {
        let nodes = try await Nodes()
        let topic = try await nodes.one.makeTopic()
        let orders = [Order(title: "One", topic: topic), Order(title: "Other", topic: topic)]
        let answers = try await race(orders[0], orders[1], by: name, on: nodes)
        let winner = try #require(answers.firstIndex { $0["number"] == 1 })
        #expect(answers[winner]["title"] == .string(orders[winner].title))
        #expect(code(answers[1 - winner]) == "CONFLICT", "\(answers[1 - winner].serializedString())")
        #expect(try nodes.count("messages") == 1)
        // What was refused took no number.
        #expect(try await nodes.other.publish("Next", to: topic)["number"] == 2)
    }

    @Test("of two owners one gets the id, and the other learns nothing but that it is taken")
    func owners() async throws {
        let nodes = try await Nodes()
        let callers = ["alice", "bob"].map(APIHarness.identity)
        var orders: [Order] = []
        for caller in callers {
            let topic = try await nodes.one.makeTopic("of \(caller.username)", as: caller)
            orders.append(Order(title: "secret of \(caller.username)", topic: topic, caller: caller))
        }
        let answers = try await race(orders[0], orders[1], by: "id", on: nodes)
        let winner = try #require(answers.firstIndex { $0["number"] == 1 })
        let loser = answers[1 - winner]
        #expect(code(loser) == "CONFLICT", "\(loser.serializedString())")
        #expect(!loser.serializedString().contains("secret"))
        #expect(try nodes.count("messages") == 1)
        // The loser's topic is as it was.
        let next = orders[1 - winner]
        #expect(try await nodes.other.publish("Next", to: next.topic, as: next.caller)["number"] == 1)
    }
}
