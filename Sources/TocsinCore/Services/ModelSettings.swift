/// How versions, sync and tombstones behave (`docs/appsync.md`).
package struct ModelSettings: Sendable, Hashable {
    /// What becomes of an update that names another version than the stored one.
    package enum ConflictHandler: String, Sendable, Hashable, CaseIterable {
        /// Stored values stay, what is missing is taken, lists are joined: never an
        /// error for a live record.
        case automerge = "AUTOMERGE"
        /// Refused, with the stored record.
        case optimisticConcurrency = "OPTIMISTIC_CONCURRENCY"
    }

    /// What becomes of updates of another version, of any model.
    package var conflictHandler = ConflictHandler.automerge
    /// Whether an update or delete without `_version` is for whatever is stored;
    /// on AWS it is a conflict.
    package var takesAbsentVersion = false
    /// Whether tombstones are answered by `sync` and mutations alone, and elsewhere are as
    /// absent; on AWS they are not.
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

    /// Whether an owner gives each name to one topic alone; on AWS to as many as they like.
    package var topicNamesAreUnique = true

    /// Behaves as Amplify's backend, but for what the defaults above say.
    package init() {}
}

/// An update that named another version than the stored one and was merged (AppSync's AUTOMERGE).
///
/// What it said of fields that had a value is lost, and its sender saw no error.
package struct StaleMerge: Sendable, Hashable {
    /// The model's name.
    package var model: String
    /// The record's key.
    package var id: String
    /// What the update named; 0 when it named none.
    package var namedVersion: Int64
    /// What was stored.
    package var storedVersion: Int64
}
