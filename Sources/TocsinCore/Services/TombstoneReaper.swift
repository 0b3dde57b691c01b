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
            total += try await store.removing(atOnce: settings.reaperBatch) { writer, limit throws(StoreError) in
                try writer.removeTombstones(model, changedBefore: end, limit: limit)
            }
        }
        _ = try await store.removing(atOnce: settings.reaperBatch) { writer, limit throws(StoreError) in
            let grants = try writer.removeEndedGrants(before: end, limit: limit)
            return max(grants, try writer.removeLeftGroups(before: end, limit: limit))
        }
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
