/// Removes rows of the audit whose time is over, in small batches, so that no writer waits for
/// long.
package struct AuditReaper: Sendable {
    private let store: any Store
    private let time: any TimeSource
    private let keptSeconds: Reloadable<Double>
    private let batch: Int

    /// - Parameter batch: Rows removed at most in one transaction; other writes wait that long.
    package init(store: any Store, time: any TimeSource, keptSeconds: Double, batch: Int = 500) {
        self.init(store: store, time: time, keptSeconds: Reloadable(keptSeconds), batch: batch)
    }

    /// The same, for a time that may change.
    package init(store: any Store, time: any TimeSource, keptSeconds: Reloadable<Double>, batch: Int = 500) {
        self.store = store
        self.time = time
        self.keptSeconds = keptSeconds
        self.batch = batch
    }

    /// Removes all that is due now; answers how many rows.
    package func runOnce() async throws(ServiceError) -> Int {
        let end = time.now().adding(seconds: -keptSeconds.value)
        return try await store.removing(atOnce: batch) { writer, limit throws(StoreError) in
            try writer.removeAuditEvents(before: end, limit: limit)
        }
    }

    /// Runs every hour.
    package var task: PeriodicTask {
        PeriodicTask(
            .audit,
            everySeconds: 3600,
            failure: "old rows of the audit could not be removed"
        ) { () async throws(ServiceError) in
            try await runOnce()
        }
    }
}
