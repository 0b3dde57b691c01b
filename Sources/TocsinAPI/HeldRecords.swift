import Synchronization
package import TocsinCore

/// What the requests of a node hold in memory of what they have read: of one request, of
/// one owner's, and of all.
package final class RecordBudget: Sendable {
    private struct State {
        var total = 0
        var owners: [String: Int] = [:]
    }

    /// Bytes of text that one request may hold.
    private let request: Int
    private let state = Mutex(State())
    /// All requests of one owner hold as much as so many of the largest, those of all owners
    /// together as much as so many.
    private static let requestsOfOwner = 2
    private static let requestsOfAll = 6

    /// A budget where one request may hold so many bytes.
    package init(bytesOfRequest request: Int) {
        self.request = request
    }

    /// Counts bytes for a request that holds so many already.
    ///
    /// Throws `tooLarge` where the request would hold too much, `unavailable` where its
    /// owner would, or all would.
    package func take(_ bytes: Int, beside held: Int, owner: String) throws(ServiceError) {
        guard held + bytes <= request else { throw ServiceError(StoreError.tooLarge(bytes: request)) }
        let refusal: ServiceError? = state.withLock { state in
            let ofOwner = state.owners[owner, default: 0] + bytes
            guard ofOwner <= request * Self.requestsOfOwner else {
                return .unavailable(
                    "your other requests hold too much; wait for their answers, or ask for less at once"
                )
            }
            // One owner takes at most half of what the others leave, so that there is always
            // something left for the next.
            guard ofOwner <= request * Self.requestsOfAll - state.total else {
                return .unavailable("the requests under way hold too much")
            }
            state.owners[owner] = ofOwner
            state.total += bytes
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Gives back what a request had taken.
    package func release(_ bytes: Int, owner: String) {
        state.withLock { state in
            state.total -= bytes
            let left = state.owners[owner, default: 0] - bytes
            state.owners[owner] = left > 0 ? left : nil
        }
    }
}

/// What one request holds, given back when the request is over, what it has published, and which
/// topic and message it was about.
final class HeldRecords: Sendable {
    private let budget: RecordBudget
    private let owner: String
    private let bytes = Mutex(0)
    private let concerned = Mutex<(topic: String?, message: String?)>((nil, nil))
    private let publishing = Atomic(Publishing.none)
    /// Pages of less are not counted: most requests read nothing larger.
    private static let smallPage = 64 * 1024

    init(_ budget: RecordBudget, owner: String) {
        (self.budget, self.owner) = (budget, owner)
    }

    deinit {
        let held = bytes.withLock { $0 }
        if held > 0 { budget.release(held, owner: owner) }
    }

    /// What became of the messages that the request was to publish; the worst counts.
    enum Publishing: UInt8, AtomicRepresentable, Comparable {
        case none, created, repeated, failed

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// What became of the messages so far.
    var published: Publishing { publishing.load(ordering: .relaxed) }

    /// Notes what became of a message; a request publishes one after the other.
    func note(_ publishing: Publishing) {
        if publishing > published { self.publishing.store(publishing, ordering: .relaxed) }
    }

    /// What the request was about, by the keys of the log.
    var subjects: [String: String] {
        let (topic, message) = concerned.withLock(\.self)
        switch (topic, message) {
        case (nil, nil): return [:]
        case (let topic?, nil): return ["topic": topic]
        case (nil, let message?): return ["message_id": message]
        case (let topic?, let message?): return ["topic": topic, "message_id": message]
        }
    }

    /// Notes the first topic and the first message that the request is about.
    func note(topic: String?, message: String?) {
        concerned.withLock { concerned in
            concerned.topic = concerned.topic ?? topic
            concerned.message = concerned.message ?? message
        }
    }

    /// Notes what a record is, or is part of.
    func note(_ record: Record) {
        switch record.model.name {
        case "Topic": note(topic: record.id, message: nil)
        case "Message": note(topic: record.making?.topic, message: record.id)
        default:
            guard let topic = record["topicId"].text else { return }
            note(topic: topic, message: nil)
        }
    }

    /// Counts what was read; refused where the request, its owner or the node would hold too much.
    func add(_ read: Int) throws(ServiceError) {
        guard read > Self.smallPage else { return }
        try budget.take(read, beside: bytes.withLock { $0 }, owner: owner)
        bytes.withLock { $0 += read }
    }
}
