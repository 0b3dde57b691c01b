import GraphQL
import GraphQLTransport
import Metrics
import Synchronization
import TocsinCore

/// Rows of the audit as they are written, to those who see all of them; costs nothing while nobody
/// listens.
///
/// While somebody does, the end of the table is looked at again and again. So rows of every node
/// and of commands beside the server are told, each once, whatever becomes of who wrote them.
final class AuditFeed: Sendable {
    /// Somebody who listens, and what they select.
    struct Listener: Sendable {
        /// Equal for those who get the same bytes.
        let key: GroupKey
        let plan: ExecutionPlan
        let context: RequestContext
        let member: QueuedMember<String>
    }

    /// What became of somebody who would listen.
    enum Joining { case joined, stopping, unreadable, tooMuch }

    private struct State {
        var listeners: [ObjectIdentifier: Listener] = [:]
        var joining: [(listener: Listener, answer: CheckedContinuation<Joining, Never>)] = []
        var isStopped = false
    }

    /// Rows that may wait for one subscriber.
    static let maximumWaiting = 2000
    /// Rows of the last minute that are known by their ids, at most.
    private static let maximumPlaces = 100_000
    /// Rows that are read at once.
    private static let pageSize = 500
    /// From a look to the next one.
    private static let pause = Duration.milliseconds(250)
    private let executor: ResponseExecutor
    private let time: any TimeSource
    private let groups: Gauge
    private let bells: AsyncStream<Void>
    private let bell: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    /// A feed that counts its listeners among the groups of subscribers.
    init(_ executor: ResponseExecutor, time: any TimeSource, groups: Gauge) {
        (self.executor, self.time, self.groups) = (executor, time, groups)
        (bells, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Registers a subscriber; when it returns, no row that commits later is missed.
    func join(_ listener: Listener) async -> Joining {
        await withCheckedContinuation { answer in
            let isWaiting = state.withLock { state in
                if !state.isStopped { state.joining.append((listener, answer)) }
                return !state.isStopped
            }
            guard isWaiting else { return answer.resume(returning: .stopping) }
            bell.yield()
        }
    }

    /// Ends the subscriptions of callers who may listen no longer.
    func end(_ reason: StreamEnd, where isAffected: (Identity) -> Bool) {
        for listener in listeners where isAffected(listener.member.caller) { listener.member.end(reason) }
    }

    /// Ends every subscription and takes no new ones.
    func stop() {
        let joining = state.withLock { state in
            state.isStopped = true
            defer { state.joining = [] }
            return state.joining
        }
        for (_, answer) in joining { answer.resume(returning: .stopping) }
        end(.shuttingDown) { _ in true }
        bell.finish()
    }

    /// Looks while somebody listens, until `stop` or cancellation.
    func run() async {
        for await _ in bells {
            var tail: AuditTail?
            while !Task.isCancelled {
                let begun = ContinuousClock.now
                guard await look(&tail) else { break }
                // However much there is to look through, the database has four fifths of the time
                // for others.
                try? await Task.sleep(for: max(Self.pause, begun.duration(to: .now) * 4))
            }
        }
        stop()
    }

    /// Tells what is new and takes in those who would listen; false when nobody does.
    private func look(_ tail: inout AuditTail?) async -> Bool {
        let joining = state.withLock { state in
            defer { state.joining = [] }
            return state.joining
        }
        let present = listeners
        guard let services = (present.first ?? joining.first?.listener)?.context.services else { return false }
        let result: Joining
        do throws(ServiceError) {
            result = try await read(services.audit, &tail, to: present) ? .joined : .tooMuch
        } catch {
            // Those who are there are told when it can be read again.
            result = .unreadable
        }
        if result == .tooMuch {
            tail = nil
            for listener in present { listener.member.end(Self.overflow) }
        }
        for (listener, answer) in joining { answer.resume(returning: result == .joined ? enter(listener) : result) }
        return true
    }

    /// Reads on and tells `present` of each new row; at the first look all rows are old.
    ///
    /// False, and nothing was told, when there are too many.
    private func read(
        _ audit: AuditService,
        _ tail: inout AuditTail?,
        to present: [Listener]
    ) async throws(ServiceError) -> Bool {
        let now = time.now()
        var current = tail ?? AuditTail(since: now.adding(seconds: -AuditTail.overlapSeconds))
        let places = try await audit.places(since: current.since, limit: Self.maximumPlaces)
        guard places.count < Self.maximumPlaces else { return false }
        if tail != nil {
            for page in places.filter(current.isNew).chunks(of: Self.pageSize) {
                for event in try await audit.events(at: page) { await tell(event, to: present) }
                current.note(page)
                tail = current
            }
        }
        current.advance(over: places, now: now)
        tail = current
        return true
    }

    /// Lets a row wait for each of them, made into bytes once for those who ask alike.
    private func tell(_ event: StoredAuditEvent, to present: [Listener]) async {
        var responses: [GroupKey: SharedResponse] = [:]
        for listener in present {
            var response = responses[listener.key]
            if response == nil { response = SharedResponse(body: await executor.execute(audit: event, for: listener)) }
            responses[listener.key] = response
            guard let response, !listener.member.offer(response, for: event.id) else { continue }
            listener.member.end(Self.overflow)
        }
    }

    private func enter(_ listener: Listener) -> Joining {
        let member = listener.member
        let isIn = state.withLock { state in
            if !state.isStopped { state.listeners[ObjectIdentifier(member)] = listener }
            return !state.isStopped
        }
        guard isIn else { return .stopping }
        groups.add(1)
        member.attach { [weak self, unowned member] in self?.leave(member) }
        return .joined
    }

    private func leave(_ member: QueuedMember<String>) {
        let wasIn = state.withLock { $0.listeners.removeValue(forKey: ObjectIdentifier(member)) != nil }
        if wasIn { groups.add(-1) }
    }

    private var listeners: [Listener] { state.withLock { Array($0.listeners.values) } }

    private static let overflow = StreamEnd.failed(
        .unavailable,
        "More is written to the audit than this subscription takes. Subscribe again, then ask for auditEvents."
    )
}

extension Array {
    /// Slices of at most this many elements, as arrays.
    fileprivate func chunks(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
