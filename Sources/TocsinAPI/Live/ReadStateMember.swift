import GraphQL
import GraphQLTransport
import JSON
import Synchronization
import TocsinCore

/// One subscriber to how far they have read, at any of their devices.
///
/// A commit only wakes them. What is handed over is read from the store by the rights of that
/// moment, so several changes may become one response, which says the newest.
final class ReadStateMember: WokenMember {
    private struct State {
        /// Something changed that was not looked for.
        var isBehind = false
        var pump: Task<Void, Never>?
        var leave: (@Sendable () -> Void)?
        var hasEnded = false
    }

    /// What is subscribed to.
    struct Asked: Sendable {
        let plan: ExecutionPlan
        let variables: JSONObject
        let isAppSync: Bool
    }

    let asked: Asked
    private let services: Services
    private let executor: ResponseExecutor
    private let identity: Mutex<Identity>
    private let sink: any ResponseSink
    private let state = Mutex(State())

    init(
        _ asked: Asked,
        caller: Identity,
        _ services: Services,
        _ executor: ResponseExecutor,
        sink: any ResponseSink
    ) {
        (self.asked, self.services, self.executor, self.sink) = (asked, services, executor, sink)
        identity = Mutex(caller)
    }

    var caller: Identity { identity.withLock { $0 } }

    func renew(_ caller: Identity) { identity.withLock { $0 = caller } }

    /// Says how to leave the feed.
    func attach(leave: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if !state.hasEnded { state.leave = leave }
            return state.hasEnded
        }
        if isLate { leave() }
    }

    /// Lets the member look again.
    func wake() {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.isBehind = true
            if state.pump == nil { state.pump = Task { await self.run() } }
        }
    }

    /// Looks until nothing has changed since.
    private func run() async {
        while await sink.turn(handOver) {}
    }

    /// Hands over what is read now; false when nothing has changed.
    private func handOver() async -> Bool {
        let isBehind = state.withLock { state in
            guard !state.hasEnded, state.isBehind else {
                state.pump = nil
                return false
            }
            state.isBehind = false
            return true
        }
        guard isBehind else { return false }
        let marks: [ReadMark]
        do throws(ServiceError) {
            marks = try await services.readMarks.marks(caller: caller)
        } catch {
            if case .unauthorized = error { end(Self.gone) } else { end(Self.unavailable) }
            return false
        }
        let response = SharedResponse(body: await executor.execute(marks: marks, for: self, services))
        await sink.room(for: response)
        guard !Task.isCancelled, !state.withLock(\.hasEnded) else { return false }
        sink.next(response)
        return true
    }

    /// Ends the member from the server's side.
    func end(_ reason: StreamEnd) {
        if finish() { sink.end(reason) }
    }

    /// Ends the member from the client's side.
    func cancel() { _ = finish() }

    private func finish() -> Bool {
        let old = state.withLock { state in
            let old = state
            state = State()
            state.hasEnded = true
            return old
        }
        old.pump?.cancel()
        old.leave?()
        return !old.hasEnded
    }

    /// Other subscriptions of the connection go on.
    private static let gone = StreamEnd.failed(.unauthorized, "You may not see how far you have read any more.")
    private static let unavailable = StreamEnd.failed(
        .unavailable,
        "What was read cannot be looked up just now. Subscribe again, then ask for readState."
    )
}
