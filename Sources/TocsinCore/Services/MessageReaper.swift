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

/// Removes messages whose time is over, in small batches, so that no writer waits for long.
///
/// Always the first ones of a topic, so that what is kept has no holes and a cursor
/// either is good or has expired.
package struct MessageReaper: Sendable {
    private let store: any Store
    private let time: any TimeSource
    private let reloadable: Reloadable<MessageRetention>
    private let batch: Int
    private static let topicsAtOnce = 200

    /// - Parameter batch: Rows removed at most in one transaction, deliveries included;
    ///   other writes wait that long.
    package init(store: any Store, time: any TimeSource, retention: MessageRetention, batch: Int = 100) {
        self.init(store: store, time: time, retention: Reloadable(retention), batch: batch)
    }

    /// The same, for a retention that may change.
    package init(store: any Store, time: any TimeSource, retention: Reloadable<MessageRetention>, batch: Int = 100) {
        self.store = store
        self.time = time
        reloadable = retention
        self.batch = batch
    }

    /// Removes all that is due now; answers how many messages.
    package func runOnce() async throws(ServiceError) -> Int {
        let retention = reloadable.value
        guard retention.isLimited else { return 0 }
        let bounds = retention.bounds(at: time.now())
        var total = 0
        var next: TopicID? = TopicID("")
        while let from = next, !Task.isCancelled {
            let page = try await store.reading(for: .server) { reader throws(StoreError) in
                try reader.topicsToPrune(bounds, after: from, limit: Self.topicsAtOnce)
            }
            for topic in page.due {
                guard let removed = try await prune(topic, bounds) else { return total }
                total += removed
            }
            next = page.last
        }
        return total
    }

    /// Answers how many went; nil: another node is at it.
    private func prune(_ topic: TopicID, _ bounds: PruningBounds) async throws(ServiceError) -> Int? {
        let limit = batch
        var removed = 0
        while !Task.isCancelled {
            let due = try await store.reading(for: .server) { reader throws(StoreError) in
                try reader.messagesToPrune(bounds, of: topic, limit: limit)
            }
            guard !due.isEmpty else { break }
            let step = try await store.writing { writer throws(StoreError) in
                .success(try writer.prune(due, of: topic, limit: limit))
            }
            guard let step else { return nil }
            removed += step.messages
            let isLast = due.count < limit && step.messages == due.count
            // Nothing moved: a message has come under way again, and the
            // next round looks at it anew.
            if isLast || step.messages + step.deliveries == 0 { break }
        }
        return removed
    }

    /// Runs every five minutes; tells how many messages were removed.
    package func task(removed: @escaping @Sendable (Int) -> Void) -> PeriodicTask {
        PeriodicTask(.messages, everySeconds: 300, failure: "old messages could not be removed") {
            () async throws(ServiceError) in
            let count = try await runOnce()
            if count > 0 { removed(count) }
            return count
        }
    }
}
