import TocsinCore

/// Removes rows of the journal that every node has read or given up, and nodes that have gone.
struct JournalReaper: Sendable {
    let store: any Store
    let time: any TimeSource

    private static let keptSeconds = 600.0
    private static let goneSeconds = 600.0
    private static let batch = 2000

    /// Removes all that is due now; answers how many rows.
    func runOnce() async throws(ServiceError) -> Int {
        let now = time.now()
        return try await store.removing(atOnce: Self.batch) { writer, limit throws(StoreError) in
            try writer.removeNodes(seenBefore: now.adding(seconds: -Self.goneSeconds))
            return try writer.removeJournal(before: now.adding(seconds: -Self.keptSeconds), limit: limit)
        }
    }

    /// Runs every half minute.
    var task: PeriodicTask {
        PeriodicTask(.journal, everySeconds: 30, failure: "the journal could not be shortened") {
            () async throws(ServiceError) in
            try await runOnce()
        }
    }
}
