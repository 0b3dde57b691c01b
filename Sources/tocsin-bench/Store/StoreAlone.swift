import Foundation
import TocsinAPI
import TocsinCore
import TocsinPostgres
import TocsinSQLite
import TocsinServer
import TocsinStore

/// `MessageService` on a store of this process, without HTTP or GraphQL: callers who
/// each wait for their commit.
struct StoreAlone {
    /// The address of a PostgreSQL database; nil for SQLite in a temporary folder.
    let url: String?
    let seconds: Double
    private static let callers = 64
    private static let caller = Identity(userID: UserID("bench"), username: "bench")

    /// Creates messages, at most so many in one commit.
    func run(groupSize: Int) async throws -> Figures {
        let folder = try URL.makeTemporaryFolder("store")
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = StoreSettings()
        settings.groupSize = groupSize
        let time = SystemTime()
        let file = SQLiteDatabase(path: folder.appending(path: "store.db").path())
        let database: any SQLDatabase = url.map { PostgresDatabase(url: $0) } ?? file
        let store = try await SQLStore.open(
            database,
            at: time.now(),
            settings: settings
        )
        let figures = try await measure(store, time, groupSize)
        await store.close()
        return figures
    }

    private func measure(_ store: SQLStore, _ time: SystemTime, _ groupSize: Int) async throws -> Figures {
        let schema = try APISchema()
        let environment = ServiceEnvironment(
            store: store,
            time: time,
            identifiers: SystemIdentifiers(time: time),
            deliveryListeners: DeliveryListeners()
        )
        let topics = TopicService(environment: environment, model: schema.topics)
        let messages = MessageService(environment: environment, messages: schema.messages, topics: schema.topics)
        let name = "bench-\(UInt64.random(in: 0...UInt64.max))"
        let topic = try await topics.create(["name": .text(name)], caller: Self.caller).id
        let input: RecordInput = [
            "type": .int(1), "title": .text("Disk full"), "body": .text(StoreBenchmark.body), "topicId": .text(topic),
        ]
        let (start, cpu) = (Date(), ProcessUsage.ownCPU())
        let end = start.addingTimeInterval(seconds)
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<Self.callers {
                group.addTask {
                    var count = 0
                    while Date() < end {
                        _ = try await messages.create(input, caller: Self.caller)
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return Figures(
            name: groupSize == 1
                ? "the store alone, a commit a request" : "the store alone, \(Self.callers) callers in groups",
            operations: count,
            seconds: Date().timeIntervalSince(start),
            cpuSeconds: ProcessUsage.ownCPU() - cpu
        )
    }
}
