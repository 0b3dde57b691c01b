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
        var (total, removed) = (0, Self.batch)
        while removed == Self.batch, !Task.isCancelled {
            removed = try await store.writing { writer throws(StoreError) in
                .success(try writer.removeWebhookEvents(madeBefore: end, limit: Self.batch))
            }
            total += removed
        }
        return total
    }

    /// Runs every hour.
    package var task: PeriodicTask {
        PeriodicTask(.webhookEvents, everySeconds: 3600, failure: "old webhook events could not be removed") {
            () async throws(ServiceError) in
            try await runOnce()
        }
    }
}
