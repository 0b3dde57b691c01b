import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

/// Alice's topic, and others whom she may share it with.
struct SharingScene {
    let api: APIHarness
    let topic: String
    static let alice = APIHarness.identity("alice")
    static let bob = APIHarness.identity("bob")
    static let carol = APIHarness.identity("carol")

    init(model: String? = nil, limits: ServiceLimits = ServiceLimits()) async throws {
        api = try await APIHarness(model: model, limits: limits)
        for name in ["alice", "bob", "carol"] { try await Self.add(name, to: api) }
        topic = try await api.makeTopic("alerts")
    }

    static func add(_ name: String, to api: APIHarness) async throws {
        let account = Account(
            id: UserID("sub-\(name)"),
            name: name,
            passwordHash: nil,
            isDisabled: false,
            createdAt: Timestamp(milliseconds: 1)
        )
        try await api.store.write { writer throws(StoreError) in try writer.save(account) }
    }

    static func member(_ name: String, of groups: String...) -> Identity {
        APIHarness.identity(name).with(groups: groups, isAdmin: false, asOf: nil)
    }

    /// What `grantTopic` answers; `more` are further members of its input.
    func grant(
        _ roles: [String],
        to subject: JSONObject = ["user": "bob"],
        _ more: JSONObject = [:],
        as caller: Identity = alice
    ) async throws -> JSONValue {
        var input: JSONObject = ["topicId": .string(topic), "roles": .array(roles.map { .string($0) })]
        for member in subject { input[member.key] = member.value }
        for member in more { input[member.key] = member.value }
        return try await api.run(
            "mutation($i: GrantInput!) { grantTopic(input: $i) { id subjectKind subject subjectName roles push } }",
            ["i": .object(input)],
            as: caller
        )
    }

    /// Grants and answers the grant's id.
    @discardableResult
    func granted(
        _ roles: [String],
        to subject: JSONObject = ["user": "bob"],
        _ more: JSONObject = [:]
    ) async throws -> String {
        let answer = try await grant(roles, to: subject, more)
        return try #require(answer["data"]?["grantTopic"]?["id"]?.stringValue, "\(answer)")
    }

    func revoke(_ id: String, as caller: Identity = alice) async throws -> JSONValue {
        try await api.run("mutation($id: ID!) { revokeGrant(id: $id) { id } }", ["id": .string(id)], as: caller)
    }

    /// What a caller gets of the topic.
    func look(_ selection: String, as caller: Identity) async throws -> JSONValue {
        let answer = try await api.run(
            "query($id: ID!) { getTopic(id: $id) { \(selection) } }",
            ["id": .string(topic)],
            as: caller
        )
        return answer["data"]?["getTopic"] ?? answer
    }

    /// The titles of all messages that a caller reads in the topic.
    func titles(as caller: Identity) async throws -> [String] {
        let answer = try await api.run("{ listMessages { items { title } } }", as: caller)
        let items = answer["data"]?["listMessages"]?["items"]?.arrayValue ?? []
        return items.compactMap { $0["title"]?.stringValue }
    }

    func memberships(of caller: Identity) async throws -> [JSONValue] {
        try await api.run("{ memberships { topicId push } }", as: caller)["data"]?["memberships"]?.arrayValue ?? []
    }
}

extension JSONValue {
    /// The code of an answer's first error.
    var code: String? { self["errors"]?[0]?["extensions"]?["code"]?.stringValue }
    /// The words of an answer's first error.
    var words: String { self["errors"]?[0]?["message"]?.stringValue ?? "" }
}
