import GraphQLTransport
import JSON
import Synchronization
import TocsinAPI
import TocsinCore
import TocsinSQLite
import TocsinStore

/// Topics of one API, what is published to them, and who follows.
struct FeedScene {
    static let follow = """
        subscription($t: ID, $a: String) { onCreateMessage(topicId: $t, after: $a) { number title cursor topicId } }
        """
    /// Messages that can be deleted, and that a group reads whosever they are.
    static let openModel = """
        type Topic @model @auth(rules: [{ allow: owner }, { allow: groups, groups: ["staff"], operations: [read] }]) {
          id: ID! name: String! @index(name: "byName", queryField: "getTopicByName") arn: String!
        }
        type Message @model @auth(rules: [{ allow: owner }, { allow: groups, groups: ["staff"], operations: [read] }]) {
          id: ID! type: Int! title: String! body: String! createdAt: AWSDateTime!
          topicId: ID! @index(name: "byTopicIdAndCreatedAt", sortKeyFields: ["createdAt"], queryField: "getMessageByTopicIdAndCreatedAt")
          topic: Topic @hasOne(fields: ["topicId"])
        }
        """

    let api: APIHarness
    let database: SQLiteDatabase

    static var staff: Identity {
        var caller = APIHarness.identity("stan")
        caller.claims = [AccessRule.groupClaim: ["staff"]]
        return caller
    }

    /// Follows a topic, or all.
    func follow(
        _ topic: String?,
        after cursor: String?,
        as caller: Identity = APIHarness.identity("alice"),
        lastEventID: String? = nil,
        into sink: CollectingSink = CollectingSink()
    ) async -> (sink: CollectingSink, outcome: SubscribeOutcome) {
        var variables: JSONObject = [:]
        if let topic { variables["t"] = .string(topic) }
        if let cursor { variables["a"] = .string(cursor) }
        let request = GraphQLRequest(query: Self.follow, variables: variables)
        return await api.subscribe(request, as: caller, lastEventID: lastEventID, into: sink)
    }

    /// Publishes titles, each to the topic of its index; answers their cursors.
    @discardableResult
    func publish(
        _ titles: [String],
        to topics: [String],
        as caller: Identity = APIHarness.identity("alice")
    ) async throws -> [String] {
        var cursors: [String] = []
        for (index, title) in titles.enumerated() {
            let message = try await api.publish(title, to: topics[index % topics.count], as: caller)
            cursors.append(message["cursor"]?.stringValue ?? message.serializedString())
        }
        return cursors
    }

    /// Changes the database behind the server's back, as a job of another process would.
    func change(_ sql: String, _ bindings: [SQLValue]) throws {
        let connection = try database.connect(.tool)
        defer { connection.close() }
        try connection.run(sql, bindings)
    }

    /// Removes a topic's messages below a number, and those of its owner below a position.
    func prune(_ topic: String, below number: Int64, owner: String = "sub-alice::alice") throws {
        try change("DELETE FROM messages WHERE topic_id = $1 AND number < $2", [.text(topic), .int(number)])
        try change("UPDATE topics SET first_number = $2 WHERE id = $1", [.text(topic), .int(number)])
        try change(
            """
            UPDATE feeds SET first_position = (SELECT coalesce(min(position), last_position + 1) FROM messages
                WHERE owner = $1) WHERE owner = $1
            """,
            [.text(owner)]
        )
    }

    static func titles(_ responses: [JSONValue]) -> [String] {
        responses.compactMap { $0["data"]?["onCreateMessage"]?["title"]?.stringValue }
    }

    static func refusal(_ outcome: SubscribeOutcome) throws -> JSONValue? {
        if case .refused(let errors) = outcome { try JSONParser.parse(errors)[0] } else { nil }
    }
}

/// A database whose readers fail while a switch is on.
struct FailingDatabase: SQLDatabase {
    let base: SQLiteDatabase
    let fails: FailureSwitch

    var dialect: Dialect { base.dialect }
    var version: String { base.version }

    func connect(_ use: ConnectionUse) throws(StoreError) -> any SQLConnection {
        let connection = try base.connect(use)
        return use == .reader ? FailingConnection(base: connection, fails: fails) : connection
    }

    func claimServer() throws(StoreError) -> (any ServerClaim)? { try base.claimServer() }
}

final class FailureSwitch: Sendable {
    private let value = Mutex(false)
    var isOn: Bool {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

private final class FailingConnection: SQLConnection {
    let base: any SQLConnection
    let fails: FailureSwitch

    init(base: any SQLConnection, fails: FailureSwitch) {
        (self.base, self.fails) = (base, fails)
    }

    func run(_ sql: String, _ bindings: [SQLValue], _ row: (any SQLRow) -> Void) throws(StoreError) -> Int {
        if fails.isOn, sql.hasPrefix("SELECT") { throw .unavailable(reason: "the disk failed", detail: "") }
        return try base.run(sql, bindings, row)
    }

    func execute(script: String) throws(StoreError) { try base.execute(script: script) }
    var isInTransaction: Bool { base.isInTransaction }
    func checkpoint() throws(StoreError) { try base.checkpoint() }
    func close() { base.close() }
}

extension FeedScene {
    /// An API over a database of its own, which the scene can reach.
    init(model: String? = nil, fails: FailureSwitch? = nil, unsorted: LiveFeed.CommitBound? = nil) async throws {
        let database = try SQLiteDatabase.temporary()
        self.database = database
        api = try await APIHarness(
            model: model,
            database: fails.map { FailingDatabase(base: database, fails: $0) } ?? database,
            unsorted: unsorted
        )
    }
}
