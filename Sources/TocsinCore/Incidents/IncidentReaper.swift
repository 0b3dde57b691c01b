/// Removes incidents that were resolved long ago, with alerts and timelines, in small batches.
package struct IncidentReaper: Sendable {
    private let store: any Store
    private let time: any TimeSource
    private let keptSeconds: Reloadable<Double?>
    private static let batch = 100

    /// - Parameter keptSeconds: How long they are kept after their end; nil: for ever.
    package init(store: any Store, time: any TimeSource, keptSeconds: Reloadable<Double?>) {
        (self.store, self.time, self.keptSeconds) = (store, time, keptSeconds)
    }

    /// Removes all that is due now; answers how many incidents.
    package func runOnce() async throws(ServiceError) -> Int {
        guard let seconds = keptSeconds.value else { return 0 }
        let end = time.now().adding(seconds: -seconds)
        return try await store.removing(atOnce: Self.batch) { writer, limit throws(StoreError) in
            try writer.removeIncidents(resolvedBefore: end, limit: limit)
        }
    }

    /// Runs every hour.
    package var task: PeriodicTask {
        PeriodicTask(.incidents, everySeconds: 3600, failure: "old incidents could not be removed") {
            () async throws(ServiceError) in try await runOnce()
        }
    }
}
