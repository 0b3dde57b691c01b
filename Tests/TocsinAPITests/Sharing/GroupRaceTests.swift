import JSON
import TestDatabases
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Groups that change while they are granted a topic", .enabled(if: PostgresServer.named != nil))
struct GroupRaceTests {
    @Test("who comes into a group at one node while another shares with it becomes a member of the topic")
    func joining() async throws {
        let database = try #require(PostgresServer.named).makeDatabase()
        let (one, other) = (try await APIHarness(database: database), try await APIHarness(database: database))
        try await SharingScene.add("bob", to: one)
        _ = try await one.services.groups.add(name: "ops", description: nil, by: .shell)
        let topic = try await other.makeTopic("alerts")
        // Both have looked at what there is, if they may, before either goes on.
        let holder = try database.connect(.tool)
        try holder.run("BEGIN")
        try holder.run("SELECT 1 FROM groups WHERE name = 'ops' FOR UPDATE")
        async let added = one.services.groups.add(
            UserReference("bob"),
            to: GroupReference(name: "ops"),
            by: .shell
        )
        try await database.waitForWaiters(1)
        async let shared = other.run(
            "mutation($i: GrantInput!) { grantTopic(input: $i) { id } }",
            ["i": ["topicId": .string(topic), "group": "ops", "roles": ["READER"], "push": true]]
        )
        try await database.waitForWaiters(2)
        try holder.run("COMMIT")
        holder.close()
        #expect(try await added.isNew)
        let answer = try await shared
        #expect(answer["errors"] == nil, "\(answer)")
        let membership = try await one.store.read { reader throws(StoreError) in
            try reader.membership(of: UserID("sub-bob"), in: TopicID(topic))
        }
        #expect(membership?.push == true)
        await one.store.close()
        await other.store.close()
    }
}
