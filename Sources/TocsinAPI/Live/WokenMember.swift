import GraphQL
import GraphQLTransport
import JSON
import Synchronization
import TocsinCore

/// A subscriber whom commits only wake: what is handed over is read from the store, by the rights
/// of that moment.
final class WokenMember: RenewableListener {
    /// Reads what is new and hands it over; true when there may be more.
    ///
    /// It keeps to a page, for others of the connection have their turn after it.
    typealias Look = @Sendable (WokenMember) async throws(ServiceError) -> Bool

    private struct State {
        /// There may be something new that was not looked for.
        var isBehind = false
        /// What was there when the member joined has yet to be handed over.
        var isCatchingUp = false
        var pump: Task<Void, Never>?
        var leave: (@Sendable () -> Void)?
        var hasEnded = false
    }

    private let look: Look
    /// What is said to who may look no longer, and when nobody can look.
    private let sentences: (gone: String, unavailable: String)
    private let identity: Mutex<Identity>
    private let sink: any ResponseSink
    private let state = Mutex(State())

    init(
        caller: Identity,
        sink: any ResponseSink,
        gone: String,
        unavailable: String,
        look: @escaping Look
    ) {
        (self.sink, self.look, sentences) = (sink, look, (gone, unavailable))
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

    /// Lets the member look for what was there before it joined, and says when it has all.
    func catchUp() {
        state.withLock { $0.isCatchingUp = true }
        wake()
    }

    /// Lets the member look for what is new.
    func wake() {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.isBehind = true
            if state.pump == nil { state.pump = Task { await self.run() } }
        }
    }

    /// Hands over a response, in a look; false when nobody wants more.
    func handOver(_ response: SharedResponse) async -> Bool {
        await sink.room(for: response)
        guard !Task.isCancelled, !state.withLock(\.hasEnded) else { return false }
        sink.next(response)
        return true
    }

    /// Looks on, and ends when there is nothing further.
    private func run() async {
        while await sink.turn(lookOnce) {}
    }

    /// Looks when there may be something new; false when there is nothing to look for.
    private func lookOnce() async -> Bool {
        let (isBehind, hasCaughtUp) = state.withLock { state in
            guard !state.hasEnded, state.isBehind else {
                let hasCaughtUp = !state.hasEnded && state.isCatchingUp
                (state.pump, state.isCatchingUp) = (nil, false)
                return (false, hasCaughtUp)
            }
            state.isBehind = false
            return (true, false)
        }
        if hasCaughtUp { sink.caughtUp() }
        guard isBehind else { return false }
        do throws(ServiceError) {
            if try await look(self) { state.withLock { $0.isBehind = true } }
            return true
        } catch {
            if case .unauthorized = error {
                end(.failed(.unauthorized, sentences.gone))
            } else {
                end(.failed(.unavailable, sentences.unavailable))
            }
            return false
        }
    }

    /// Ends the member from the server's side; other subscriptions of the connection go on.
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
}

extension StreamEnd {
    /// Ends one subscription with an error.
    static func failed(_ code: ErrorCode, _ sentence: String) -> StreamEnd {
        var writer = JSONWriter()
        writer.byte(UInt8(ascii: "["))
        StandardErrorEncoding.write(GraphQLError(code, sentence), to: &writer)
        writer.byte(UInt8(ascii: "]"))
        return .failed(errors: writer.bytes)
    }
}
