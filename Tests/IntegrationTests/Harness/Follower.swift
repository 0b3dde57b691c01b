import Synchronization
import TocsinClient

/// Follows a topic in a task of its own and keeps what comes.
final class Follower: Sendable {
    private struct Seen {
        var messages: [FeedMessage] = []
        var isLive = false
        var failure: ClientError?
    }

    private final class Record: Sendable {
        let seen = Mutex(Seen())
    }

    private let record = Record()
    private let task: Task<Void, Never>

    /// `cursor` is what a follower before this one saw last.
    init(_ client: TocsinClient, topicID: String, after cursor: String? = nil) {
        let record = record
        task = Task {
            let feed = client.follow(topic: .id(topicID), after: cursor) { change in
                if case .live = change { record.seen.withLock { $0.isLive = true } }
            }
            do throws(ClientError) {
                for try await message in feed { record.seen.withLock { $0.messages.append(message) } }
            } catch {
                record.seen.withLock { $0.failure = error }
            }
        }
    }

    var messages: [FeedMessage] { record.seen.withLock { $0.messages } }
    /// Why the feed ended, if it did.
    var failure: ClientError? { record.seen.withLock { $0.failure } }

    func untilLive() async throws {
        try await eventually("the subscription is live") {
            if let failure { throw failure }
            return record.seen.withLock { $0.isLive }
        }
    }

    func stop() { task.cancel() }
}
