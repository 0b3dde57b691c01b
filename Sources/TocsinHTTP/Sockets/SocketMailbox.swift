import GraphQLTransport
import NIOCore
import Synchronization

/// Where subscriptions leave responses from any thread; the connection's loop fetches them, once for all that came.
///
/// Bounded: what does not fit marks the mailbox as overflowed, and nothing more is taken.
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
    }

    private struct State {
        var letters: [Letter] = []
        var bytes = 0
        var hasOverflowed = false
        var isFetchScheduled = false
        var fetch: (@Sendable () -> Void)?
        /// What was posted since the peer had last taken everything.
        var owedLetters = 0
        var owedBytes = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let loop: any EventLoop
    private let maximumBytes: Int
    /// Between two turns of the loop a publisher may be faster than any peer.
    private let maximumLetters = 4096
    /// A replay waits once it is this far ahead of the peer; well below what cuts a peer off.
    private let paceLetters = 128

    init(_ loop: any EventLoop, maximumBytes: Int) {
        self.loop = loop
        self.maximumBytes = maximumBytes
    }

    /// From now on letters are taken; `fetch` runs on the loop when there are some.
    func open(fetch: @escaping @Sendable () -> Void) {
        state.withLock { $0.fetch = fetch }
    }

    /// Takes no more letters and forgets those it has.
    func close() {
        let waiters = state.withLock { state in
            let waiters = state.waiters
            state = State()
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The peer has taken everything that was fetched.
    func drained() {
        let waiters = state.withLock { state in
            state.owedLetters = state.letters.count
            state.owedBytes = state.bytes
            let waiters = state.waiters
            state.waiters = []
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when the peer is not far behind, or the mailbox is closed.
    func ready() async {
        await withCheckedContinuation { continuation in
            let mayGoOn = state.withLock { state in
                let isAhead = state.owedLetters >= paceLetters || state.owedBytes >= maximumBytes / 4
                guard state.fetch != nil, isAhead else { return true }
                state.waiters.append(continuation)
                return false
            }
            if mayGoOn { continuation.resume() }
        }
    }

    func post(_ letter: Letter) {
        let fetch = state.withLock { state -> (@Sendable () -> Void)? in
            guard let fetch = state.fetch, !state.hasOverflowed else { return nil }
            let size = letter.size
            if state.bytes + size > maximumBytes || state.letters.count >= maximumLetters {
                state.hasOverflowed = true
            } else {
                state.bytes += size
                state.letters.append(letter)
                state.owedLetters += 1
                state.owedBytes += size
            }
            guard !state.isFetchScheduled else { return nil }
            state.isFetchScheduled = true
            return fetch
        }
        if let fetch { loop.execute(fetch) }
    }

    /// All letters in their order, and whether some did not fit.
    func take() -> (letters: [Letter], hasOverflowed: Bool) {
        state.withLock { state in
            let taken = (state.letters, state.hasOverflowed)
            state.letters = []
            state.bytes = 0
            state.isFetchScheduled = false
            return taken
        }
    }
}

extension SocketMailbox.Letter {
    fileprivate var size: Int {
        switch content {
        case .next(let response): response.body.count + 64
        case .end(.failed(let errors)): errors.count + 64
        case .end: 64
        }
    }
}

/// The sink of one subscription: a slot of its connection's mailbox.
final class SocketSink: ResponseSink {
    private let number: Int
    private let mailbox: SocketMailbox

    init(number: Int, mailbox: SocketMailbox) {
        self.number = number
        self.mailbox = mailbox
    }

    func next(_ response: SharedResponse) { mailbox.post(.init(number: number, content: .next(response))) }

    func ready() async { await mailbox.ready() }

    func end(_ reason: StreamEnd) { mailbox.post(.init(number: number, content: .end(reason))) }
}
