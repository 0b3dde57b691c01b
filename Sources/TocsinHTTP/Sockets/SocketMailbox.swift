import GraphQLTransport
import NIOCore
import Synchronization

/// What the subscriptions of one connection may leave for it, from any thread; its
/// lane carries it to the loop.
///
/// Bounded: what does not fit is told as an overflow, and nothing more is taken. What is left in
/// turns waits for room instead, in a bound of its own.
final class SocketMailbox: Sendable {
    /// One thing a subscription brought.
    struct Letter: Sendable {
        let number: Int
        let content: Content
    }

    /// A response, or the end.
    enum Content: Sendable {
        case next(SharedResponse)
        case end(StreamEnd)
        /// What was stored before is all sent.
        case caughtUp
        /// Something did not fit.
        case overflow
    }

    /// How much something is.
    struct Load: Sendable {
        var letters = 0
        var bytes = 0

        /// Whether so many bytes more stay within a bound; the first always do.
        func takes(_ more: Int, within bound: Load) -> Bool {
            letters == 0 || letters < bound.letters && bytes + more <= bound.bytes
        }
    }

    struct State {
        /// What is on its way to the loop.
        var load = Load()
        var hasOverflowed = false
        /// What was left in turns and is not written yet.
        var stored = Load()
        /// Whose turn it is.
        var holder: Int?
        /// Who waits for a turn, the first to come first.
        var line: [TurnWaiter] = []
        /// Who waits until all is written.
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastTicket = 0
        var receiver: NIOLoopBound<any LetterReceiver>?
    }

    let state = Mutex(State())
    private let maximum: Load
    /// What may be left in turns before it waits.
    let maximumStored: Load

    init(_ settings: HTTPServerSettings) {
        // Between two turns of the loop a publisher may be faster than any peer.
        maximum = Load(letters: 4096, bytes: settings.maximumQueueBytes)
        maximumStored = Load(
            letters: settings.maximumQueueEvents,
            bytes: min(131_072, settings.maximumQueueBytes / 8)
        )
    }

    /// From now on letters are taken, for this receiver.
    func open(_ receiver: NIOLoopBound<any LetterReceiver>) {
        state.withLock { $0.receiver = receiver }
    }

    /// Takes no more letters and forgets those it has.
    func close() {
        let old = state.withLock { state in
            defer { state = State() }
            return state
        }
        for waiter in old.waiters.values { waiter.resume() }
        for waiter in old.line { waiter.continuation.resume(returning: false) }
    }

    /// Sends a letter by the connection's lane.
    func post(_ letter: Letter, by lane: OwnerQueue) {
        let posted = state.withLock { state -> Letter? in
            guard state.receiver != nil, !state.hasOverflowed else { return nil }
            var letter = letter
            if state.holder == letter.number, state.stored.takes(letter.size, within: maximumStored) {
                state.stored.letters += 1
                state.stored.bytes += letter.size
            } else if state.load.bytes + letter.size > maximum.bytes + state.stored.bytes
                || state.load.letters >= maximum.letters + state.stored.letters
            {
                state.hasOverflowed = true
                letter = Letter(number: letter.number, content: .overflow)
            }
            state.load.bytes += letter.size
            state.load.letters += 1
            return letter
        }
        if let posted { lane.post(posted, to: self) }
    }

    /// A letter has arrived on the loop; answers whose it is.
    func taken(_ letter: Letter) -> (any LetterReceiver)? {
        state.withLock { state in
            guard let receiver = state.receiver else { return nil }
            state.load.bytes -= letter.size
            state.load.letters -= 1
            return receiver.value
        }
    }
}

extension SocketMailbox.Letter {
    /// About what it is on the wire.
    var size: Int {
        switch content {
        case .next(let response): response.body.count + 64
        case .end(.failed(let errors)): errors.count + 64
        case .end, .caughtUp, .overflow: 64
        }
    }
}
