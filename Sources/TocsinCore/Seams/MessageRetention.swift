/// How long messages are kept; without a limit, for ever.
package struct MessageRetention: Sendable, Hashable {
    /// Older ones go, by the time at which the server took them.
    package var keptSeconds: Double?
    /// So many of the last numbers of a topic stay.
    package var keptPerTopic: Int?

    /// Limits in seconds and in messages of a topic; without arguments, none.
    package init(keptSeconds: Double? = nil, keptPerTopic: Int? = nil) {
        self.keptSeconds = keptSeconds
        self.keptPerTopic = keptPerTopic
    }

    /// Whether anything ever goes.
    package var isLimited: Bool { keptSeconds != nil || keptPerTopic != nil }

    /// What may go now.
    package func bounds(at now: Timestamp) -> PruningBounds {
        PruningBounds(madeBefore: keptSeconds.map { now.adding(seconds: -$0) }, keptPerTopic: keptPerTopic)
    }
}

/// Which messages may go: those that either bound leaves out.
package struct PruningBounds: Sendable, Hashable {
    /// Messages that the server took before this may go; nil: age alone removes none.
    package var madeBefore: Timestamp?
    /// How many of a topic's last messages stay; nil: number alone removes none.
    package var keptPerTopic: Int?

    /// Bounds as of one moment.
    package init(madeBefore: Timestamp?, keptPerTopic: Int?) {
        self.madeBefore = madeBefore
        self.keptPerTopic = keptPerTopic
    }
}

/// What one step of pruning a topic did.
package struct PruningStep: Sendable, Hashable {
    /// Messages removed.
    package var messages: Int
    /// Deliveries removed, those of messages that stay for the next step included.
    package var deliveries: Int

    /// A step that removed so many of each.
    package init(messages: Int, deliveries: Int) {
        self.messages = messages
        self.deliveries = deliveries
    }
}

/// What a read may ask about messages whose time is over.
package protocol RetentionReading {
    /// Looks at the next topics after one by id, those that are gone but have messages included: which have a message that the
    /// bounds leave out, and the last one looked at; nil behind the last of all.
    func topicsToPrune(
        _ bounds: PruningBounds,
        after topic: TopicID,
        limit: Int
    ) throws(StoreError) -> (due: [TopicID], last: TopicID?)
    /// The first messages of a topic by number that may go, up to the first that may not: one that is kept, or whose message
    /// is on its way to somebody (a fan-out, a delivery that is not final).
    func messagesToPrune(
        _ bounds: PruningBounds,
        of topic: TopicID,
        limit: Int
    ) throws(StoreError) -> [MessageID]
}

/// How messages whose time is over are removed.
package protocol RetentionWriting {
    /// Removes settled deliveries of a topic's first messages, given by `messagesToPrune`, then the messages.
    ///
    /// Of both together at most `limit` rows go, and no message behind one that is on its way to somebody again. What is left
    /// are the last numbers of the topic, and the bounds of topic and owners' feeds say from where. Nil: another node is
    /// pruning.
    func prune(_ messages: [MessageID], of topic: TopicID, limit: Int) throws(StoreError) -> PruningStep?
}

/// What upkeep of the ledger's parts did.
package struct PartitionUpkeep: Sendable, Hashable {
    /// Parts made.
    package var made = 0
    /// Parts dropped.
    package var dropped = 0

    /// Upkeep that did nothing.
    package init() {}
}

/// Where the ledger of deliveries stands in parts by time, parts are made ahead and go as a whole; elsewhere both do nothing.
package protocol PartitionReading {
    /// Parts that may go, as nothing in them is open or was settled since the moment, and whether new ones are due.
    func partitionsToKeep(
        at now: Timestamp,
        spanDays: Int,
        settledBefore moment: Timestamp
    ) throws(StoreError) -> (areDue: Bool, old: [String])
}

/// How parts of the ledger are made and dropped.
package protocol PartitionWriting {
    /// Makes parts for the span of so many days that is now and the next two, and drops these old ones unless something in
    /// them has opened again.
    func keepPartitions(at now: Timestamp, spanDays: Int, dropping old: [String]) throws(StoreError) -> PartitionUpkeep
}
