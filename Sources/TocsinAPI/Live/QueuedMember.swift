import GraphQLTransport
import Synchronization
import TocsinCore

/// One subscriber to deliveries or to the audit, served at its own pace.
///
/// If something changes again before it was handed over, only its newest state is kept. So a
/// fan-out to many devices neither fills the connection's queue nor waits for the reader.
final class QueuedMember<Key: Hashable & Sendable>: RenewableListener, Sendable {
    private struct State {
        var waiting: [Key: SharedResponse] = [:]
        var order: [Key] = []
        var pump: Task<Void, Never>?
        var leave: (@Sendable () -> Void)?
        var hasEnded = false
    }

    /// Responses handed over before others of the connection have their turn.
    private static var handedOver: Int { 64 }
    private let maximumWaiting: Int
    private let identity: Mutex<Identity>
    private let sink: any ResponseSink
    /// Keeps what is known of the member's grants.
    private let hold: GrantHold?
    private let state = Mutex(State())

    /// - Parameter maximumWaiting: Responses that may wait; a subscriber with more is to be ended.
    init(caller: Identity, sink: any ResponseSink, hold: GrantHold? = nil, maximumWaiting: Int) {
        self.maximumWaiting = maximumWaiting
        identity = Mutex(caller)
        self.hold = hold
        self.sink = sink
    }

    var caller: Identity { identity.withLock { $0 } }

    func renew(_ caller: Identity) { identity.withLock { $0 = caller } }

    /// Whether what the member hears rests on grants.
    var goesByGrants: Bool { hold != nil }

    /// Says how to leave the group.
    func attach(leave: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if !state.hasEnded { state.leave = leave }
            return state.hasEnded
        }
        if isLate { leave() }
    }

    /// Takes the newest state of what is known by the key; false when too much waits.
    func offer(_ response: SharedResponse, for key: Key) -> Bool {
        state.withLock { state in
            guard !state.hasEnded else { return true }
            if state.waiting.updateValue(response, forKey: key) == nil { state.order.append(key) }
            guard state.waiting.count <= maximumWaiting else { return false }
            if state.pump == nil { state.pump = Task { await self.run() } }
            return true
        }
    }

    /// Hands over what waits, and ends when nothing does.
    private func run() async {
        while await sink.turn(handOver) {}
    }

    /// Hands over some; false when nothing waits.
    private func handOver() async -> Bool {
        guard let responses = take() else { return false }
        for response in responses {
            await sink.room(for: response)
            if Task.isCancelled { return false }
            sink.next(response)
        }
        return true
    }

    /// The next responses; nil, and no pump any more, when there are none.
    private func take() -> [SharedResponse]? {
        state.withLock { state in
            guard !state.hasEnded, !state.order.isEmpty else {
                state.pump = nil
                return nil
            }
            let keys = state.order.prefix(Self.handedOver)
            state.order.removeFirst(keys.count)
            return keys.compactMap { state.waiting.removeValue(forKey: $0) }
        }
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
        hold?.release()
        return !old.hasEnded
    }
}
