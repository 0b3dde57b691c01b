package import TocsinCore

/// Whom a reader of the journal tells, on its thread; all must return at once.
package struct JournalListeners: Sendable {
    /// Whether anybody here listens to changes of this model's records of this
    /// owner; others are not read.
    package var wants: @Sendable (_ model: String, _ owner: String?) -> Bool
    /// Whether anybody here listens to changes of records at all; while nobody does, what this node
    /// itself commits is nothing to hurry for.
    package var isAnybodyHere: @Sendable () -> Bool
    /// Takes the events of one group or of several that follow each other, in order, and where each
    /// was committed.
    package var publish: @Sendable ([DomainEvent], CommitOrigins) -> Void
    /// Something may have been missed: the reader was away for too long, or the
    /// database is no longer the same.
    package var lost: @Sendable () -> Void
    /// Takes what was learnt of the database's clock.
    package var measured: @Sendable (DatabaseTime.Measurement) -> Void
    /// Takes a failure, after which the reader tries again and again, and nil when that went well.
    package var failed: @Sendable (StoreError?) -> Void
    /// Takes, about every second and never more often, what other nodes there are.
    package var peers: @Sendable (JournalPeers) -> Void

    /// Listeners; by default they always want this node's commits at once and are not told how the
    /// reader gets on.
    package init(
        wants: @escaping @Sendable (_ model: String, _ owner: String?) -> Bool,
        isAnybodyHere: @escaping @Sendable () -> Bool = { true },
        publish: @escaping @Sendable ([DomainEvent], CommitOrigins) -> Void,
        lost: @escaping @Sendable () -> Void,
        measured: @escaping @Sendable (DatabaseTime.Measurement) -> Void = { _ in },
        failed: @escaping @Sendable (StoreError?) -> Void = { _ in },
        peers: @escaping @Sendable (JournalPeers) -> Void = { _ in }
    ) {
        self.wants = wants
        self.isAnybodyHere = isAnybodyHere
        self.publish = publish
        self.lost = lost
        self.measured = measured
        self.failed = failed
        self.peers = peers
    }
}

/// What the registry says of other nodes that live.
package struct JournalPeers: Sendable, Hashable {
    /// How many there are.
    package var count = 0
    /// Whether somebody listens to deliveries there.
    package var wantDeliveries = false

    /// Whether there is one.
    package var areThere: Bool { count > 0 }
}

/// How a reader of the journal behaves.
package struct JournalSettings: Sendable, Hashable {
    /// How long it waits for a ring before it looks all the same.
    package var pollMilliseconds = 250
    /// Rows read at once.
    package var pageSize = 200
    /// How long rows are kept; a reader that was away for half of it takes something for lost.
    package var keptMilliseconds: Int64 = 600_000

    /// The documented defaults.
    package init() {}
}

/// How a reader of the journal gets on.
package struct JournalStatus: Sendable, Hashable {
    /// Why it cannot read; nil when the last look went well.
    package var trouble: String?
    /// Looks that went well, and rows that they found.
    package var looks = 0
    /// Rows that those looks found.
    package var rows = 0
    /// How old the oldest row was that the last look with any found.
    package var lagMilliseconds: Int64 = 0
    /// When that look was, in the database's time.
    package var foundAt: Timestamp?
    /// When it last looked, in the database's time.
    package var lookedAt: Timestamp?

    /// A reader that has not looked yet.
    package init() {}
}
