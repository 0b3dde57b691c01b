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
        /// Nothing that was posted waits anywhere.
        var hasRoom = true
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter = 0
        var fetch: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let loop: any EventLoop
    private let maximumBytes: Int
    /// Between two turns of the loop a publisher may be faster than any peer.
    private let maximumLetters = 4096

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
            defer { state = State() }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
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
                state.hasRoom = false
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

extension SocketMailbox {
    /// Everything taken so far has been written.
    func allWritten() {
        let waiters = state.withLock { state -> [Int: CheckedContinuation<Void, Never>] in
            guard state.letters.isEmpty else { return [:] }
            state.hasRoom = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Waits until everything posted so far has been written, the mailbox is closed or the task is cancelled.
    func room() async {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    if state.hasRoom || state.fetch == nil || Task.isCancelled { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
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

/// The sink of one subscription: a slot of its connection's mailbox, until it is closed.
final class SocketSink: ResponseSink {
    /// Whose subscription it is, where these are counted.
    let group: String?
    private let number: Int
    private let mailbox: SocketMailbox
    private let isClosed = Atomic(false)

    init(number: Int, group: String?, mailbox: SocketMailbox) {
        self.number = number
        self.group = group
        self.mailbox = mailbox
    }

    func next(_ response: SharedResponse) { post(.next(response)) }

    func end(_ reason: StreamEnd) { post(.end(reason)) }

    func room() async { await mailbox.room() }

    /// Takes nothing more, so that a stream that goes on for a while takes no one else's place.
    func close() { isClosed.store(true, ordering: .relaxed) }

    private func post(_ content: SocketMailbox.Content) {
        guard !isClosed.load(ordering: .relaxed) else { return }
        mailbox.post(.init(number: number, content: content))
    }
}
