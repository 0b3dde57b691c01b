import JSON
import Synchronization
import TocsinClient

/// Runs one subscription in a task of its own and keeps its events.
final class Listener: Sendable {
    private struct Seen {
        var events: [JSONValue] = []
        var isLive = false
        var failure: ClientError?
    }

    private final class Record: Sendable {
        let seen = Mutex(Seen())
    }

    let field: String
    private let record = Record()
    private let task: Task<Void, Never>

    /// `field` is the subscription's own.
    init(_ client: TocsinClient, _ document: String, field: String) {
        self.field = field
        let record = record
        task = Task {
            let events = client.subscribe(document) { record.seen.withLock { $0.isLive = true } }
            do throws(ClientError) {
                for try await event in events { record.seen.withLock { $0.events.append(event) } }
            } catch {
                record.seen.withLock { $0.failure = error }
            }
        }
    }

    /// What came in the field, in order.
    var events: [JSONValue] { record.seen.withLock { $0.events.compactMap { $0[field] } } }
    /// The ids in all events, whatever the field is called there.
    var ids: Set<String> {
        let events = record.seen.withLock { $0.events }
        return Set(events.flatMap { $0.objectValue?.values.compactMap { $0["id"]?.stringValue } ?? [] })
    }
    /// Why it ended, if it did.
    var failure: ClientError? { record.seen.withLock { $0.failure } }

    func untilLive() async throws {
        try await eventually("\(field) is live") {
            if let failure { throw failure }
            return record.seen.withLock { $0.isLive }
        }
    }

    /// Waits until it is live, or refused.
    func untilSettled() async throws {
        try await eventually("\(field) is live or refused") {
            record.seen.withLock { $0.isLive || $0.failure != nil }
        }
    }

    /// Waits until it is refused, or sent away.
    func untilEnded() async throws {
        try await eventually("\(field) has ended") { failure != nil }
    }

    func stop() { task.cancel() }
}
