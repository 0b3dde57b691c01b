import TestDatabases
import Testing
import TocsinCore
import TocsinPostgres
import TocsinStore

@Suite("Plans that PostgreSQL keeps")
struct KeptPlanTests {
    private static let scans = """
        SELECT coalesce(sum(idx_scan), 0) FROM pg_stat_user_indexes
        WHERE relname LIKE 'messages%' AND indexrelname LIKE '%' || $1 || '%'
        """

    @Test(
        "one from when there was no message finds a topic's last by its number",
        arguments: TestDatabase.postgres
    )
    func lastOfTopic(database: TestDatabase) async throws {
        let models = TestModels()
        let made = try database.make()
        let store = try await SQLStore.open(made, at: moment(0))
        try await store.insert([models.topic("t")])
        // A plan is kept from the sixth time on.
        for _ in 1...20 {
            _ = try await store.writing { writer throws(StoreError) in
                .success(
                    try writer.takePlaces(
                        ["u": 1],
                        [TopicID("t"): 1],
                        asking: PlaceQuestions(topics: models.topic, fewMembers: 8)
                    )
                )
            }
        }
        await store.close()
        let connection = try made.connect(.tool)
        defer { connection.close() }
        // The server counts when it has seen that the connection was closed.
        var byNumber: Int64 = 0
        for _ in 0..<1000 where byNumber < 20 {
            byNumber = try connection.first(Self.scans, [.text("number")]) { $0.int(0) } ?? 0
            _ = try connection.first("SELECT 1 FROM pg_sleep(0.02)", []) { $0.int(0) }
        }
        #expect(byNumber >= 20)
        #expect(try connection.first(Self.scans, [.text("creation")]) { $0.int(0) } == 0)
    }
}
