import Synchronization
import Testing
import TocsinCore
import TocsinStore

/// One node on a shared database: its store, its journal and what its reader has heard.
final class JournalNode: Sendable {
    let store: SQLStore
    let journal: Journal
    let reader: JournalReader
    let heard = Collected<[DomainEvent]>()
    let losses = Collected<Bool>()
    private static let patience = Duration.seconds(60)

    init(
        _ database: any SQLDatabase,
        named name: String,
        models: TestModels = TestModels(),
        settings: JournalSettings = JournalSettings(),
        haste: RingHaste = .atOnce,
        isAnybodyHere: @escaping @Sendable () -> Bool = { true },
        wants: @escaping @Sendable (String, String?) -> Bool = { _, _ in true }
    ) async throws {
        let journal = Journal(instance: name)
        self.journal = journal
        var storeSettings = StoreSettings()
        storeSettings.journal = journal
        let (heard, losses) = (heard, losses)
        reader = JournalReader(
            database,
            journal: journal,
            models: [models.topic, models.message, models.note],
            settings: settings,
            now: { moment(0) },
            listeners: JournalListeners(
                wants: wants,
                isAnybodyHere: isAnybodyHere,
                publish: { events, _ in heard.append([events]) },
                lost: { losses.append([true]) }
            )
        )
        let reader = reader
        store = try await SQLStore.open(database, at: moment(0), settings: storeSettings) { _ in
            if journal.takeNews() { reader.ringForListeners(haste) }
        }
        #expect(reader.start())
        await reader.looked()
    }

    /// The numbers of a topic's messages in the order in which they were heard.
    func numbers(of topic: String) -> [Int64] {
        heard.all.joined().compactMap { event in
            guard case .created(let record) = event, record["topicId"].text == topic else { return nil }
            return record["number"].int
        }
    }

    /// Looks again and again until so many events were heard, or patience ends.
    func hear(_ count: Int) async -> [DomainEvent] {
        let end = ContinuousClock.now + Self.patience
        while heard.all.joined().count < count, ContinuousClock.now < end { await reader.looked() }
        return Array(heard.all.joined())
    }

    /// Waits, without making it look, until so many events were heard, or patience ends.
    func awaitEvents(_ count: Int) async throws -> [DomainEvent] {
        let end = ContinuousClock.now + Self.patience
        while heard.all.joined().count < count, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(5))
        }
        return Array(heard.all.joined())
    }

    func publish(_ id: String, to topic: String, _ models: TestModels) async throws {
        try await store.write { writer throws(StoreError) in
            _ = try writer.create(models.message(id, topic: topic))
        }
    }

    func stop() async {
        await reader.stop()
        await store.close()
    }
}
