package import TocsinCore

/// Removes events that nobody has asked for in a week, those of webhooks
/// that are no more among them.
package struct WebhookEventReaper: Sendable {
    private let store: any Store
    private let time: any TimeSource
    private static let keptSeconds = 7.0 * 86_400
    private static let batch = 1000

    /// Removes from this store, by this time.
    package init(store: any Store, time: any TimeSource) {
        self.store = store
        self.time = time
    }

    /// Removes all that is due now; answers how many rows.
    package func runOnce() async throws(ServiceError) -> Int {
        let end = time.now().adding(seconds: -Self.keptSeconds)
        return try await store.removing(atOnce: Self.batch) { writer, limit throws(StoreError) in
            try writer.removeWebhookEvents(madeBefore: end, limit: limit)
        }
    }

    /// Runs every hour.
    package var task: PeriodicTask {
        PeriodicTask(.webhookEvents, everySeconds: 3600, failure: "old webhook events could not be removed") {
            () async throws(ServiceError) in
            try await runOnce()
        }
    }
}
