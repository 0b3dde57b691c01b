import Dispatch
import GraphQLTransport
import JSON
import Synchronization
import TestDatabases
import Testing
import TocsinCore
import TocsinSQLite
import TocsinStore

@Suite("Messages created together")
struct MessageBatchTests {
    private static let alice = APIHarness.identity("alice")

    /// The shipped model with two more fields of a message.
    private static let modelWithSeverity = """
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
          severity: String
          weight: Float
          createdAt: AWSDateTime!
          topicId: ID! @index(name: "byTopicIdAndCreatedAt", sortKeyFields: ["createdAt"], queryField: "getMessageByTopicIdAndCreatedAt")
          topic: Topic @hasOne(fields: ["topicId"])
        }
        """

    private struct Order: Sendable {
        var title = "Hello"
        var topic: String
        var caller = alice
        var extra: JSONObject = [:]
    }

    /// The answers to orders that wait together for one commit, in the order of the orders.
    private func publish(_ orders: [Order], on api: APIHarness) async throws -> [JSONValue] {
        let (held, signal) = AsyncStream<Void>.makeStream()
        let (store, gate) = (api.store, DispatchSemaphore(value: 0))
        async let hold: Void = store.write { _ throws(StoreError) in
            signal.finish()
            _ = gate.wait(timeout: .now() + 300)
        }
        for await _ in held {}
        // Each runs until it waits for its commit, so the order of the orders is that of the queue.
        let tasks = orders.map { order in
            Task.immediate {
                try await api.publish(order.title, to: order.topic, as: order.caller, with: order.extra)
            }
        }
        #expect(store.statistics.waitingWrites == orders.count)
        gate.signal()
        try await hold
        var answers: [JSONValue] = []
        for task in tasks { answers.append(try await task.value) }
        return answers
    }

    private func code(_ answer: JSONValue) -> String? {
        answer["errors"]?.arrayValue?.first?["errorType"]?.stringValue
            ?? answer["errors"]?.arrayValue?.first?["extensions"]?["code"]?.stringValue
    }

    @Test("each topic's numbers are dense, in the order of the calls, and events come in the same order")
    func numbers() async throws {
        let api = try await APIHarness()
        let events = Mutex<[Record]>([])
        api.hub.add { told in
            let records = told.compactMap { if case .created(let record) = $0 { record } else { nil } }
            events.withLock { $0 += records.filter { $0.number != nil } }
        }
        var topics: [String] = []
        for name in ["a", "b", "c"] { topics.append(try await api.makeTopic(name)) }
        let orders = (0..<60).map { Order(title: "\($0)", topic: topics[$0 % 3 == 0 ? 0 : $0 % 2 + 1]) }
        let answers = try await publish(orders, on: api)
        for topic in topics {
            let numbers = zip(orders, answers).compactMap { $0.topic == topic ? $1["number"]?.intValue : nil }
            #expect(numbers == (1...20).map(Int64.init))
        }
        #expect(events.withLock { $0.map { $0["title"].text } } == orders.map(\.title))
    }

    @Test("what one may not do is refused, and the others of its group are created")
    func refusals() async throws {
        let api = try await APIHarness()
        let bob = APIHarness.identity("bob")
        let (own, foreign) = (try await api.makeTopic(), try await api.makeTopic("his", as: bob))
        var orders: [Order] = []
        for round in 0..<8 {
            orders += [
                Order(title: "fine \(round)", topic: own), Order(title: "foreign", topic: foreign),
                Order(title: "absent", topic: "nowhere"), Order(title: "his", topic: foreign, caller: bob),
            ]
        }
        let answers = try await publish(orders, on: api)
        for (order, answer) in zip(orders, answers) {
            let isRefused = order.title == "foreign" || order.title == "absent"
            #expect((code(answer) != nil) == isRefused, "\(order) \(answer.serializedString())")
            if isRefused { #expect(answer["data"]?["createMessage"]?.isNull == true) }
        }
        for topic in [own, foreign] {
            let numbers = zip(orders, answers).compactMap { $0.topic == topic ? $1["number"]?.intValue : nil }
            #expect(numbers == (1...8).map(Int64.init))
        }
    }

    @Test("keys in two spellings of the same letters are two keys, and a topic's id in another spelling is none")
    func spellings() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let keys = ["caf\u{E9}", "cafe\u{301}"]
        // Each twice: what is stored is found again by the same bytes.
        for _ in 1...2 {
            let answers = try await publish(
                keys.map { Order(topic: topic, extra: ["key": .string($0)]) },
                on: api
            )
            #expect(answers.map { $0["number"]?.intValue } == [1, 2])
        }
        let named = try await api.run("mutation { createTopic(input: {id: \"K1\", name: \"k\"}) { id } }")
        #expect(named["data"]?["createTopic"]?["id"] == "K1")
        #expect(code(try await api.publish("m", to: "\u{212A}1")) != nil)
        #expect(try await api.publish("m", to: "K1")["number"]?.intValue == 1)
    }

    @Test(
        "the same id or key twice in one group is one message; with other content it is a conflict",
        arguments: ["id", "key"]
    )
    func doubles(name: String) async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let same: JSONObject = [name: "m1"]
        let orders = [
            Order(topic: topic), Order(title: "Twice", topic: topic, extra: same),
            Order(title: "Twice", topic: topic, extra: same), Order(title: "Other", topic: topic, extra: same),
            Order(topic: topic), Order(title: "Twice", topic: topic, extra: same),
        ]
        let answers = try await publish(orders, on: api)
        #expect(answers.map { $0["number"]?.intValue } == [1, 2, 2, nil, 3, 2])
        #expect(answers[1] == answers[2] && answers[1] == answers[5])
        #expect(code(answers[3]) != nil)
        // What is stored is met by a later group as it was by this one.
        let later = try await publish([orders[1], orders[3], Order(topic: topic)], on: api)
        #expect(later[0] == answers[1])
        #expect(code(later[1]) == code(answers[3]))
        #expect(later[2]["number"] == 4)
    }

    @Test("each message has a row for each member without a device, whatever was refused in between")
    func withoutDevice() async throws {
        let database = try AnyDatabase.make()
        let api = try await APIHarness(database: database)
        let bob = APIHarness.identity("bob")
        let (own, shared) = (try await api.makeTopic("own"), try await api.makeTopic("shared"))
        let (foreign, served) = (try await api.makeTopic("his", as: bob), try await api.makeTopic("served"))
        for (topic, member) in [(shared, "sub-bob"), (served, "sub-phil")] {
            try await api.join(UserID(member), topic)
        }
        _ = try await api.run(
            "mutation { registerPushToken(token: \"aa11bb22\", platform: \"ios\") { pushTokens } }",
            as: APIHarness.identity("phil")
        )
        let orders = (0..<6).flatMap { round in
            [
                Order(topic: own, extra: ["key": .string("k\(round / 2)")]), Order(title: "foreign", topic: foreign),
                Order(topic: shared), Order(topic: served), Order(title: "absent", topic: "nowhere"),
            ]
        }
        var ids: [(topic: String, id: String)] = []
        for _ in 0..<2 {
            for (order, answer) in zip(orders, try await publish(orders, on: api)) {
                if let id = answer["id"]?.stringValue { ids.append((order.topic, id)) }
            }
        }
        let connection = try database.connect(.reader)
        defer { connection.close() }
        // Each key is there once, so that the second group made none in that topic.
        #expect(try connection.first("SELECT count(*) FROM deliveries") { $0.int(0) } == 3 + 12 * 2)
        #expect(ids.count == 12 + 12 + 12)
        let members = [own: ["sub-alice"], shared: ["sub-alice", "sub-bob"], served: []]
        for (topic, id) in ids {
            let rows = try await api.store.read { reader throws(StoreError) in
                try reader.deliveries(of: MessageID(id), status: nil, after: nil, limit: 9)
            }
            #expect(rows.compactMap { $0.deviceID.userWithoutDevice?.text } == members[topic])
            #expect(rows.allSatisfy { $0.status == .skipped && $0.reason == "NO_DEVICE" })
        }
    }

    @Test("what a caller may do with one token is not what they may with another", arguments: [true, false])
    func scopes(inOneGroup: Bool) async throws {
        let api = try await APIHarness()
        let topics = [try await api.makeTopic("a"), try await api.makeTopic("b")]
        func scoped(_ scope: Identity.Scope) -> Identity {
            var caller = Self.alice
            caller.scope = scope
            return caller
        }
        let toB = scoped(.publish(topic: topics[1]))
        let orders = [
            Order(topic: topics[0]), Order(topic: topics[0], caller: toB), Order(topic: topics[1], caller: toB),
            Order(topic: topics[0], caller: scoped(.readOnly)), Order(topic: topics[0]),
            Order(topic: topics[0], caller: toB), Order(topic: topics[1]),
        ]
        var answers: [JSONValue] = []
        if inOneGroup {
            answers = try await publish(orders.filter { $0.caller.scope != .readOnly }, on: api)
            answers.insert(try await api.publish("Hello", to: topics[0], as: orders[3].caller), at: 3)
        } else {
            for order in orders {
                answers.append(try await api.publish(order.title, to: order.topic, as: order.caller))
            }
        }
        #expect(answers.map { $0["number"]?.intValue } == [1, nil, 1, nil, 2, nil, 2])
    }

    @Test("one key in two topics is two messages, and a given id meets another owner's without a word of it")
    func apart() async throws {
        let api = try await APIHarness()
        let bob = APIHarness.identity("bob")
        let topics = [try await api.makeTopic("a"), try await api.makeTopic("b")]
        let his = try await api.makeTopic("his", as: bob)
        let answers = try await publish(
            [
                Order(topic: topics[0], extra: ["key": "k"]), Order(topic: topics[1], extra: ["key": "k"]),
                Order(topic: topics[0], extra: ["id": "mine"]), Order(topic: his, caller: bob, extra: ["id": "mine"]),
            ],
            on: api
        )
        #expect(answers[..<3].map { $0["number"]?.intValue } == [1, 1, 2])
        #expect(code(answers[3]) != nil)
        #expect(!answers[3].serializedString().contains("Hello"))
    }

    @Test(
        "an id that is given again for another topic, where nothing else is made, costs no second attempt",
        .enabled(if: PostgresServer.named != nil)
    )
    func againElsewhere() async throws {
        let (counter, server) = (StatementCounter(), try #require(PostgresServer.named))
        let api = try await APIHarness(database: CountingDatabase(base: try server.makeDatabase(), counter: counter))
        let topics = [try await api.makeTopic("a"), try await api.makeTopic("b")]
        for topic in topics { _ = try await api.publish("first", to: topic) }
        let before = counter.count
        let answers = try await publish(topics.map { Order(topic: $0, extra: ["id": "mine"]) }, on: api)
        #expect(answers[0]["number"]?.intValue == 2)
        #expect(code(answers[1]) != nil)
        #expect(counter.count - before < 30)
        await api.store.close()
    }

    @Test(
        "messages wait for the database twice, however many: for the locks, and for the commit",
        .enabled(if: PostgresServer.named != nil),
        arguments: [1, 40]
    )
    func waits(size: Int) async throws {
        let (counter, server) = (StatementCounter(), try #require(PostgresServer.named))
        let database = CountingDatabase(base: try server.makeDatabase(), counter: counter, countsWaits: true)
        let api = try await APIHarness(database: database)
        let topic = try await api.makeTopic()
        for _ in 0..<3 {
            let before = counter.count
            _ = try await publish((0..<size).map { _ in Order(topic: topic) }, on: api)
            // The group of the holder waits for its commit, too.
            #expect(counter.count - before == 3)
        }
        await api.store.close()
    }

    @Test("a declared field of one's own is stored with each")
    func extraFields() async throws {
        let api = try await APIHarness(model: Self.modelWithSeverity)
        let topic = try await api.makeTopic()
        let orders = (0..<9).map { number in
            Order(topic: topic, extra: number % 2 == 0 ? ["severity": "s\(number)", "weight": 0.5] : [:])
        }
        _ = try await publish(orders, on: api)
        let found = try await api.run(
            "{ listMessages(limit: 100) { items { number severity weight } } }"
        )
        let items = found["data"]?["listMessages"]?["items"]?.arrayValue ?? []
        #expect(items.count == 9, "\(found.serializedString())")
        for item in items {
            let number = (item["number"]?.intValue ?? 0) - 1
            #expect(item["severity"] == (number % 2 == 0 ? .string("s\(number)") : .null))
            #expect(item["weight"] == (number % 2 == 0 ? 0.5 : .null))
        }
    }

    @Test(
        "two nodes that write to the same topics in another order wait for each other and not for ever",
        .enabled(if: PostgresServer.named != nil)
    )
    func crossing() async throws {
        let database = try #require(PostgresServer.named).makeDatabase()
        let nodes = [try await APIHarness(database: database), try await APIHarness(database: database)]
        let owners = ["alice", "bob"].map(APIHarness.identity)
        var targets: [(topic: String, owner: Identity)] = []
        for number in 0..<4 {
            for owner in owners { targets.append((try await nodes[0].makeTopic("\(number)", as: owner), owner)) }
        }
        let rounds = 20
        let answers = try await withThrowingTaskGroup(of: (topic: String, number: Int64?).self) { group in
            for round in 0..<rounds {
                for (number, node) in nodes.enumerated() {
                    for (index, target) in (number == 0 ? targets : targets.reversed()).enumerated() {
                        group.addTask {
                            let id: JSONObject = ["id": .string("n\(number)-\(round)-\(index)")]
                            let answer = try await node.publish("Hello", to: target.topic, as: target.owner, with: id)
                            return (target.topic, answer["number"]?.intValue)
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for target in targets {
            let numbers = answers.filter { $0.topic == target.topic }.compactMap(\.number).sorted()
            #expect(numbers == Array(1...Int64(rounds * nodes.count)))
        }
        for node in nodes { await node.store.close() }
    }

    @Test("many take no more statements than a few")
    func statements() async throws {
        var counts: [Int] = []
        for size in [4, 100] {
            let counter = StatementCounter()
            let api = try await APIHarness(
                database: CountingDatabase(base: try SQLiteDatabase.temporary(), counter: counter)
            )
            let topic = try await api.makeTopic()
            let before = counter.count
            _ = try await publish((0..<size).map { Order(topic: topic, extra: ["id": .string("m\($0)")]) }, on: api)
            counts.append(counter.count - before)
        }
        #expect(counts[0] == counts[1], "\(counts)")
        #expect(counts[0] < 20)
    }
}

/// Counts the statements of a writer, or how often it waits; one that is run for many rows is one.
private final class StatementCounter: Sendable {
    private let statements = Mutex(0)

    var count: Int { statements.withLock { $0 } }

    func step() { statements.withLock { $0 += 1 } }
}

private struct CountingDatabase: SQLDatabase {
    let base: any SQLDatabase
    let counter: StatementCounter
    var countsWaits = false

    var dialect: Dialect { base.dialect }
    var version: String { base.version }

    func connect(_ use: ConnectionUse) throws(StoreError) -> any SQLConnection {
        let connection = try base.connect(use)
        guard use == .writer else { return connection }
        return CountingConnection(base: connection, counter: counter, countsWaits: countsWaits)
    }

    func claimServer() throws(StoreError) -> (any ServerClaim)? { try base.claimServer() }
}

private final class CountingConnection: SQLConnection {
    let base: any SQLConnection
    let counter: StatementCounter
    let countsWaits: Bool

    init(base: any SQLConnection, counter: StatementCounter, countsWaits: Bool) {
        (self.base, self.counter, self.countsWaits) = (base, counter, countsWaits)
    }

    func run(_ sql: String, _ bindings: [SQLValue], _ row: (any SQLRow) -> Void) throws(StoreError) -> Int {
        if !countsWaits || !sql.hasPrefix("BEGIN") { counter.step() }
        return try base.run(sql, bindings, row)
    }

    func runTogether(
        _ statements: [(sql: String, bindings: [SQLValue])],
        _ row: (_ statement: Int, _ row: any SQLRow) -> Void
    ) throws(StoreError) {
        for _ in 0..<(countsWaits ? 1 : statements.count) { counter.step() }
        try base.runTogether(statements, row)
    }

    func queue(_ sql: String, bind: (_ parameters: any SQLParameters) -> Void) throws(StoreError) {
        if !countsWaits { counter.step() }
        try base.queue(sql, bind: bind)
    }

    func queue(
        _ sql: String,
        _ bindings: [SQLValue],
        _ row: @escaping (any SQLRow) -> Void
    ) throws(StoreError) {
        if !countsWaits { counter.step() }
        try base.queue(sql, bindings, row)
    }

    func prove(by sql: String, _ bindings: [SQLValue]) { base.prove(by: sql, bindings) }

    func runEach(
        _ sql: String,
        rows: Int,
        bind: (_ row: Int, _ parameters: any SQLParameters) -> Void
    ) throws(StoreError) -> Int {
        counter.step()
        return try base.runEach(sql, rows: rows, bind: bind)
    }

    func execute(script: String) throws(StoreError) { try base.execute(script: script) }
    var isInTransaction: Bool { base.isInTransaction }
    func checkpoint() throws(StoreError) { try base.checkpoint() }
    func close() { base.close() }
}
