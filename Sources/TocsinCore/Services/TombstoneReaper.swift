/// Removes tombstones whose time is over, in small batches, so that no writer waits for long; with
/// them what is remembered of grants that ended, which sync tells of as long.
package struct TombstoneReaper: Sendable {
    private let environment: ServiceEnvironment
    private let models: [ModelType]

    /// A reaper of the tombstones of these models.
    package init(environment: ServiceEnvironment, models: [ModelType]) {
        self.environment = environment
        self.models = models
    }

    /// Removes all that is due now; answers how many.
    package func runOnce() async throws(ServiceError) -> Int {
        let (settings, store) = (environment.models, environment.store)
        let end = environment.time.now().adding(seconds: -settings.tombstoneSeconds)
        var total = 0
        for model in models {
            var removed: Int
            repeat {
                guard !Task.isCancelled else { return total }
                removed = try await store.writing { writer throws(StoreError) in
                    .success(try writer.removeTombstones(model, changedBefore: end, limit: settings.reaperBatch))
                }
                total += removed
            } while removed >= settings.reaperBatch
        }
        var forgotten: Int
        repeat {
            guard !Task.isCancelled else { return total }
            forgotten = try await store.writing { writer throws(StoreError) in
                let limit = settings.reaperBatch
                let grants = try writer.removeEndedGrants(before: end, limit: limit)
                return .success(max(grants, try writer.removeLeftGroups(before: end, limit: limit)))
            }
        } while forgotten >= settings.reaperBatch
        return total
    }

    /// Runs every `reaperSeconds`.
    package var task: PeriodicTask {
        PeriodicTask(
            .tombstones,
            everySeconds: environment.models.reaperSeconds,
            failure: "tombstones could not be removed"
        ) { () async throws(ServiceError) in
            try await runOnce()
        }
    }
}
