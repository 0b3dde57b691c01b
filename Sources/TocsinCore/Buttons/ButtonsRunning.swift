import Synchronization

/// Counts the calls of buttons that are under way on this node.
final class ButtonsRunning: Sendable {
    /// Whose topic a call is of.
    struct Place: Hashable, Sendable {
        var topic: TopicID
        /// The topic's owner, who lets the calls be made.
        var owner: String
    }

    private let counts = Mutex<[Place: Int]>([:])
    /// Calls of one topic at once.
    private static let maximumOfTopic = 4
    /// Calls of all topics of one owner at once, so that nobody keeps the others' from being made.
    private static let maximumOfOwner = 8
    /// Calls of all topics at once.
    private static let maximum = 64

    /// Counts one more; false where a bound is reached.
    func enter(_ place: Place) -> Bool {
        counts.withLock { counts in
            let ofOwner = counts.reduce(0) { $0 + ($1.key.owner == place.owner ? $1.value : 0) }
            guard counts[place, default: 0] < Self.maximumOfTopic, ofOwner < Self.maximumOfOwner,
                counts.values.reduce(0, +) < Self.maximum
            else { return false }
            counts[place, default: 0] += 1
            return true
        }
    }

    /// One has ended.
    func leave(_ place: Place) {
        counts.withLock { counts in
            let left = (counts[place] ?? 1) - 1
            counts[place] = left > 0 ? left : nil
        }
    }
}

/// Removes presses of buttons that are over, in small batches, so that no writer waits for long.
package struct ButtonPressReaper: Sendable {
    private let store: any Store
    private let time: any TimeSource
    private let batch: Int

    /// - Parameter batch: Rows removed at most in one transaction; other writes wait that long.
    package init(store: any Store, time: any TimeSource, batch: Int = 500) {
        (self.store, self.time, self.batch) = (store, time, batch)
    }

    /// Removes all that is due now, for people may press more than one batch in a period; answers
    /// how many rows.
    package func runOnce() async throws(ServiceError) -> Int {
        // No message whose button was pressed then is young enough to be pressed now.
        let end = time.now().adding(seconds: -ButtonService.lifetimeSeconds)
        return try await store.removing(atOnce: batch) { writer, limit throws(StoreError) in
            try writer.removeButtonPresses(before: end, limit: limit)
        }
    }

    /// Runs every ten minutes.
    package var task: PeriodicTask {
        PeriodicTask(
            .buttonPresses,
            everySeconds: 600,
            failure: "old presses of buttons could not be removed"
        ) { () async throws(ServiceError) in
            try await runOnce()
        }
    }
}
