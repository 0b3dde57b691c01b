import GraphQLTransport
import NIOCore
import Synchronization

/// What the subscriptions of one connection may leave for it, from any thread; its lane carries it to the loop.
///
/// Bounded: what does not fit is told as an overflow, and nothing more is taken.
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
        /// Something did not fit.
        case overflow
    }

    private struct State {
        var letters = 0
        var bytes = 0
        var hasOverflowed = false
        /// Nothing that was posted waits anywhere.
        var hasRoom = true
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter = 0
        var receiver: NIOLoopBound<any LetterReceiver>?
    }

    private let state = Mutex(State())
    private let maximumBytes: Int
    /// Between two turns of the loop a publisher may be faster than any peer.
    private let maximumLetters = 4096

    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// From now on letters are taken, for this receiver.
    func open(_ receiver: NIOLoopBound<any LetterReceiver>) {
        state.withLock { $0.receiver = receiver }
    }

    /// Takes no more letters and forgets those it has.
    func close() {
        let waiters = state.withLock { state in
            defer { state = State() }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Sends a letter by the connection's lane.
    func post(_ letter: Letter, by lane: DeliveryLane) {
        let posted = state.withLock { state -> Letter? in
            guard state.receiver != nil, !state.hasOverflowed else { return nil }
            var letter = letter
            if state.bytes + letter.size > maximumBytes || state.letters >= maximumLetters {
                state.hasOverflowed = true
                letter = Letter(number: letter.number, content: .overflow)
            }
            state.bytes += letter.size
            state.letters += 1
            state.hasRoom = false
            return letter
        }
        if let posted { lane.post(posted, to: self) }
    }

    /// A letter has arrived on the loop; answers whose it is.
    func taken(_ letter: Letter) -> (any LetterReceiver)? {
        state.withLock { state in
            guard let receiver = state.receiver else { return nil }
            state.bytes -= letter.size
            state.letters -= 1
            return receiver.value
        }
    }

    /// Who takes letters, on the loop; nil before the start and after the end.
    var receiver: (any LetterReceiver)? { state.withLock { $0.receiver?.value } }
}

extension SocketMailbox {
    /// Everything taken so far has been written.
    func allWritten() {
        let waiters = state.withLock { state -> [Int: CheckedContinuation<Void, Never>] in
            guard state.letters == 0 else { return [:] }
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
                    if state.hasRoom || state.receiver == nil || Task.isCancelled { return true }
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
        case .end, .overflow: 64
        }
    }
}

/// The sink of one subscription: a slot of its connection's mailbox, until it is closed.
final class SocketSink: ResponseSink {
    /// Whose subscription it is, where these are counted.
    let group: String?
    let number: Int
    private let mailbox: SocketMailbox
    private let lane: DeliveryLane
    private let isClosed = Atomic(false)

    init(number: Int, group: String?, mailbox: SocketMailbox, lane: DeliveryLane) {
        self.number = number
        self.group = group
        self.mailbox = mailbox
        self.lane = lane
    }

    var courier: (any ResponseCourier)? { lane }

    func next(_ response: SharedResponse) { post(.next(response)) }

    func end(_ reason: StreamEnd) { post(.end(reason)) }

    func room() async { await mailbox.room() }

    /// Takes nothing more, so that a stream that goes on for a while takes no one else's place.
    func close() { isClosed.store(true, ordering: .relaxed) }

    /// Who takes what comes by the lane, on the loop; nil when nothing is wanted any more.
    var receiver: (any LetterReceiver)? { isClosed.load(ordering: .relaxed) ? nil : mailbox.receiver }

    private func post(_ content: SocketMailbox.Content) {
        guard !isClosed.load(ordering: .relaxed) else { return }
        mailbox.post(.init(number: number, content: content), by: lane)
    }
}
