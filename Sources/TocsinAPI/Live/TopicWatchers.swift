import Synchronization
import TocsinCore

/// How many subscriptions of this node follow each topic by its name.
final class TopicWatchers: Sendable {
    private let counts = Mutex<[TopicID: Int]>([:])

    /// How many follow the topic now.
    func count(of topic: TopicID) -> Int { counts.withLock { $0[topic] ?? 0 } }

    func enter(_ topic: TopicID) { counts.withLock { $0[topic, default: 0] += 1 } }

    func leave(_ topic: TopicID) {
        counts.withLock { counts in
            let count = (counts[topic] ?? 0) - 1
            counts[topic] = count > 0 ? count : nil
        }
    }
}
