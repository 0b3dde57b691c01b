/// How versions, sync and tombstones behave (`docs/appsync.md`).
package struct ModelSettings: Sendable, Hashable {
    /// What becomes of an update that names another version than the stored one.
    package enum ConflictHandler: String, Sendable, Hashable, CaseIterable {
        /// Stored values stay, what is missing is taken, lists are joined: never an error for a live record.
        case automerge = "AUTOMERGE"
        /// Refused, with the stored record.
        case optimisticConcurrency = "OPTIMISTIC_CONCURRENCY"
    }

    /// The handler of models that have none of their own.
    package var conflictHandler = ConflictHandler.automerge
    /// By model name.
    package var conflictHandlers: [String: ConflictHandler] = [:]
    /// Whether an update or delete without `_version` is for whatever is stored; on AWS it is a conflict.
    package var takesAbsentVersion = false
    /// Whether tombstones are answered by `sync` and mutations alone, and elsewhere are as absent; on AWS they are not.
    package var hidesDeleted = false
    /// How long a tombstone is kept: 30 days.
    package var tombstoneSeconds = 43_200.0 * 60
    /// How far back `sync` answers with changes alone; beyond it, with everything.
    ///
    /// Never longer than tombstones are kept.
    package var deltaSeconds = 7.0 * 86_400
    /// How far the clocks of nodes that share a database may be apart; one node needs none.
    package var clockMarginSeconds = 0.0
    /// Tombstones removed in one transaction at most.
    package var reaperBatch = 100
    /// Between two rounds of the reaper.
    package var reaperSeconds = 3600.0

    /// Behaves as Amplify's backend, but for what the defaults above say.
    package init() {}

    /// The handler of a model.
    package func handler(of model: ModelType) -> ConflictHandler { conflictHandlers[model.name] ?? conflictHandler }
}
