import JSON
import TestDatabases
import Testing
import TocsinCore
import TocsinStore

@Suite("A topic that another node changes", .enabled(if: PostgresServer.named != nil))
struct ChangedTopicTests {
    private static let alice = APIHarness.identity("alice")
    private static let bob = APIHarness.identity("bob")

    /// A node that has made a message in alice's topic, and a connection of somebody else.
    private func scene() async throws -> (api: APIHarness, topic: String, other: any SQLConnection) {
        let database = try #require(PostgresServer.named).makeDatabase()
        let api = try await APIHarness(database: database)
        let topic = try await api.makeTopic()
        #expect(try await api.publish("first", to: topic)["number"]?.intValue == 1)
        return (api, topic, try database.connect(.tool))
    }

    private func isRefused(_ answer: JSONValue) -> Bool {
        let error = answer["errors"]?.arrayValue?.first
        let code = error?["errorType"]?.stringValue ?? error?["extensions"]?["code"]?.stringValue
        return code?.lowercased() == "unauthorized"
    }

    @Test("whose owner is another now takes the new owner's messages, and the old one's no more")
    func newOwner() async throws {
        let (api, topic, other) = try await scene()
        defer { other.close() }
        try other.run("UPDATE topics SET owner = $2 WHERE id = $1", [.text(topic), .text(Self.bob.owner)])
        #expect(isRefused(try await api.publish("late", to: topic, as: Self.alice)))
        #expect(try await api.publish("his", to: topic, as: Self.bob)["number"]?.intValue == 2)
        #expect(isRefused(try await api.publish("later", to: topic, as: Self.alice)))
        try other.run("UPDATE topics SET owner = $2 WHERE id = $1", [.text(topic), .text(Self.alice.owner)])
        #expect(try await api.publish("again", to: topic, as: Self.alice)["number"]?.intValue == 3)
        #expect(isRefused(try await api.publish("too late", to: topic, as: Self.bob)))
        #expect(try other.first("SELECT count(*) FROM messages") { $0.int(0) } == 3)
        await api.store.close()
    }

    @Test("does not answer its former owner who sends an old message again", arguments: ["id", "key"])
    func repeated(name: String) async throws {
        let (api, topic, other) = try await scene()
        defer { other.close() }
        #expect(try await api.publish("once", to: topic, with: [name: "again"])["number"]?.intValue == 2)
        #expect(try await api.publish("once", to: topic, with: [name: "again"])["number"]?.intValue == 2)
        try other.run("UPDATE topics SET owner = $2 WHERE id = $1", [.text(topic), .text(Self.bob.owner)])
        #expect(isRefused(try await api.publish("once", to: topic, with: [name: "again"])))
        await api.store.close()
    }

    @Test("takes no message once it is deleted, and again when it is back")
    func deleted() async throws {
        let (api, topic, other) = try await scene()
        defer { other.close() }
        try other.run("UPDATE topics SET deleted = 1 WHERE id = $1", [.text(topic)])
        #expect(isRefused(try await api.publish("late", to: topic)))
        try other.run("UPDATE topics SET deleted = NULL WHERE id = $1", [.text(topic)])
        #expect(try await api.publish("again", to: topic)["number"]?.intValue == 2)
        await api.store.close()
    }

    @Test("is read anew when its values have changed, and its messages go on without a gap")
    func changed() async throws {
        let (api, topic, other) = try await scene()
        defer { other.close() }
        for number in 2...6 {
            try other.run("UPDATE topics SET name = $2 WHERE id = $1", [.text(topic), .text("name \(number)")])
            let message = try await api.publish("m\(number)", to: topic)
            #expect(message["number"]?.intValue == Int64(number))
        }
        await api.store.close()
    }
}
