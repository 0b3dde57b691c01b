import GraphQLTransport
import JSON

/// Many feeds over one socket after another: what happens comes in, what to do goes out.
///
/// It does nothing itself and reads no clock.
///
/// - One socket is open while any feed wants it. A lost one is opened again after a pause, for as
///   long as it takes (`ReturnPauses`).
/// - A feed whose reader is behind is parked: its operation alone is completed, and begins again
///   after its last cursor when the reader has caught up. The others feel nothing.
/// - A newer token is shown on the open socket. Only if that fails is the socket changed.
package struct SocketMachine {
    /// One reader's feed, told from all before it on this socket.
    package typealias FeedID = Int

    /// What can happen.
    package enum Event: Sendable {
        /// A reader has come.
        case follow(FeedID, any SocketOperation)
        /// A reader has gone.
        case leave(FeedID)
        /// These credentials are good to use.
        case token(HeldCredentials)
        /// There are no credentials for us.
        case tokenFailed(ClientError)
        /// The socket is open.
        case opened
        /// The socket could not be opened.
        case openFailed(ClientError)
        /// The server said something.
        case text([UInt8])
        /// The socket is closed, with the peer's code if there was one.
        case closed(code: Int?, reason: String)
        /// A timer has run out.
        case timer(Timer)
        /// The network has changed.
        case network(isUsable: Bool)
        /// The application goes to the background.
        case pause
        /// The application comes back.
        case resume
        /// All feeds are to end.
        case finish
    }

    /// What to do, in order.
    package enum Action: Sendable {
        /// Get credentials and tell `token` or `tokenFailed`; ends an earlier wish.
        case askForToken(TokenWish)
        /// Open a socket and tell `opened` or `openFailed`.
        case open
        /// Send a text message.
        case send([UInt8])
        /// Close the socket, or stop opening it; nothing more is to be told of it.
        case close
        /// Tell `timer` after this time, unless it is set again or cancelled.
        case setTimer(Timer, Duration)
        /// Forget the timer.
        case cancelTimer(Timer)
        /// Set `.renewal` to when a token newer than this one should be asked for; the server may
        /// have said when this one ends, in milliseconds since 1970.
        case watchRenewal(HeldCredentials, serverSays: Int64?)
        /// There is something to take for the reader.
        case wake(FeedID)
        /// Tell whoever watches the connection.
        case tell(Change)
    }

    /// Which credentials are wanted.
    package enum TokenWish: Sendable {
        case usable
        case newer(than: HeldCredentials)
        case replacement(for: HeldCredentials, ClientError)
    }

    /// The timers.
    package enum Timer: Hashable, Sendable {
        /// The pause before the next attempt.
        case pause
        /// The server must acknowledge by then.
        case handshake
        /// The server must answer a ping by then.
        case pong
        /// The server must have judged a newer token by then.
        case proof
        /// A newer token is due.
        case renewal
        /// The socket has worked for so long that its failures are forgotten.
        case steady
        /// A feed's own pause; or it has worked for so long that its failures are forgotten.
        case feed(FeedID)
    }

    /// What becomes of the connection.
    package enum Change: Sendable {
        case idle, connecting, live, paused
        case waiting(Duration, ClientError)
        case signedOut(ClientError)
    }

    enum Phase {
        /// No feed wants the socket.
        case idle
        /// Waits for the timer `pause`.
        case waiting
        /// Waits for credentials.
        case asking
        case opening
        /// Waits for the acknowledgement.
        case greeting
        case ready
        /// Until the application comes back.
        case paused
    }

    /// The most feeds on one socket, which is the server's bound.
    package static let mostFeeds = 100
    /// How long a newer token may take to be judged.
    static let proofTimeout: Duration = .seconds(10)
    /// After working for so long, failures are forgotten.
    static let steadyTime: Duration = .seconds(10)

    let settings: ClientSettings
    let random: @Sendable () -> Double
    var phase = Phase.idle
    var session: TransportWSClientSession?
    var held: HeldCredentials?
    /// The newer token that the server is judging.
    var proving: HeldCredentials?
    var feeds: [FeedID: FeedSlot] = [:]
    /// The feed of each running operation.
    var operations: [String: FeedID] = [:]
    var lastOperation = 0
    /// The ping whose answer will say that feeds are live.
    var livePing: Int?
    var lastPing = 0
    /// The server says when stored messages have all come.
    var tellsReplays = false
    var pauses: ReturnPauses
    var actions: [Action] = []

    /// A machine without feeds; `random` is from 0 up to 1.
    package init(settings: ClientSettings, random: @escaping @Sendable () -> Double) {
        self.settings = settings
        self.random = random
        pauses = ReturnPauses(settings)
    }

    /// Whether another feed has room.
    package var hasRoom: Bool { feeds.count < Self.mostFeeds }

    /// Takes what happened and says what to do.
    package mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .follow(let id, let operation): follow(id, operation)
        case .leave(let id): leave(id)
        case .token(let held): took(held)
        case .tokenFailed(let error): tokenFailed(error)
        case .opened: opened()
        case .openFailed(let error): openFailed(error)
        case .text(let bytes): received(bytes)
        case .closed(let code, let reason): lost(FeedFailure(closeCode: code, reason: reason))
        case .timer(let timer): timeIsUp(timer)
        case .network(let isUsable): networkChanged(isUsable)
        case .pause: pause()
        case .resume: resume()
        case .finish: endAll(.cancelled)
        }
        pingIfNeeded()
        defer { actions = [] }
        return actions
    }
}

// Connecting and being lost.
extension SocketMachine {
    /// Gets a socket for whoever waits for one.
    mutating func connectIfNeeded() {
        guard phase == .idle, feeds.values.contains(where: \.wantsSocket) else { return }
        connect()
    }

    private mutating func connect() {
        phase = .asking
        tell(.connecting)
        actions.append(.askForToken(.usable))
    }

    private mutating func took(_ newer: HeldCredentials) {
        switch phase {
        case .asking:
            held = newer
            phase = .opening
            actions.append(.open)
        case .ready where newer.number > held?.number ?? 0: prove(newer)
        case .ready: actions.append(.watchRenewal(newer, serverSays: nil))
        case .idle, .waiting, .opening, .greeting, .paused: break
        }
    }

    private mutating func tokenFailed(_ error: ClientError) {
        switch phase {
        case .asking, .ready: endAll(error)
        case .idle, .waiting, .opening, .greeting, .paused: break
        }
    }

    private mutating func opened() {
        guard phase == .opening, let held else { return }
        phase = .greeting
        actions.append(.setTimer(.handshake, settings.handshakeTimeout))
        session = TransportWSClientSession(
            credentials: held.credentials,
            limits: JSONLimits(maximumBytes: settings.maximumAnswerBytes)
        )
        perform(.opened)
    }

    private mutating func openFailed(_ error: ClientError) {
        guard phase == .opening else { return }
        lost(FeedFailure(error))
    }

    /// The server lets us in.
    mutating func acknowledged(_ payload: JSONObject) {
        guard phase == .greeting, let held else { return }
        phase = .ready
        if let spread = payload["reconnectSpreadMs"]?.intValue { pauses.serverSpread = .milliseconds(spread) }
        tellsReplays = payload["features"]?.arrayValue?.contains("replayedPing") ?? false
        actions.append(.cancelTimer(.handshake))
        actions.append(.setTimer(.steady, Self.steadyTime))
        actions.append(.watchRenewal(held, serverSays: payload["expiresAt"]?.intValue))
        tell(.live)
        for id in feeds.keys.sorted() { begin(id) }
    }

    /// The socket is of no use any more.
    mutating func lost(_ failure: FeedFailure) {
        guard phase == .opening || phase == .greeting || phase == .ready else { return }
        disconnect()
        if failure.code == .unauthenticated { return refused(failure.error) }
        guard failure.isTemporary else { return endAll(failure.error) }
        guard feeds.values.contains(where: \.wantsSocket) else { return rest() }
        wait(pauses.pause(after: failure, random: random), failure.error)
    }

    private mutating func wait(_ pause: Duration, _ error: ClientError) {
        phase = .waiting
        for (id, feed) in feeds where feed.wantsSocket { give(id, .interrupted(error, pause: pause)) }
        // That may have been too much for the last reader.
        guard phase == .waiting else { return }
        actions.append(.setTimer(.pause, pause))
        tell(.waiting(pause, error))
    }

    /// The server does not accept the token.
    mutating func refused(_ error: ClientError) {
        guard let held else { return endAll(error) }
        phase = .asking
        tell(.connecting)
        actions.append(.askForToken(.replacement(for: held, error)))
    }

    /// Changes the socket, without a pause.
    mutating func reopen(_ reason: String) {
        disconnect()
        for (id, feed) in feeds where feed.wantsSocket {
            give(id, .interrupted(ClientError(.connectionFailed, reason), pause: .zero))
        }
        connectIfNeeded()
        if phase == .idle { rest() }
    }

    /// Closes the socket and forgets all that belonged to it.
    mutating func disconnect() {
        phase = .idle
        session = nil
        proving = nil
        livePing = nil
        operations = [:]
        actions.append(.close)
        for timer: Timer in [.handshake, .pong, .proof, .renewal, .steady] { actions.append(.cancelTimer(timer)) }
        for id in feeds.keys { interrupt(id) }
    }

    /// Nobody wants the socket.
    mutating func rest() {
        phase = .idle
        actions.append(.cancelTimer(.pause))
        tell(.idle)
    }

    /// Nothing can bring these feeds anything any more.
    mutating func endAll(_ error: ClientError) {
        disconnect()
        for id in feeds.keys.sorted() { end(id, error) }
        actions.append(.cancelTimer(.pause))
        tell([.signedOut, .unauthenticated].contains(error.code) ? .signedOut(error) : .idle)
    }

    mutating func tell(_ change: Change) { actions.append(.tell(change)) }

    private mutating func timeIsUp(_ timer: Timer) {
        switch timer {
        case .pause where phase == .waiting:
            phase = .idle
            connectIfNeeded()
            if phase == .idle { rest() }
        case .handshake: lost(FeedFailure(.timedOut, "The server did not acknowledge the connection in time."))
        case .pong: lost(FeedFailure(.timedOut, "The server did not make the subscription live in time."))
        case .proof: if proving != nil { reopen("The server did not judge the newer token in time.") }
        case .renewal: if phase == .ready, let held { actions.append(.askForToken(.newer(than: held))) }
        case .steady: pauses.forgetFailures()
        case .feed(let id): feedTimeIsUp(id)
        case .pause: break
        }
    }
}

// What the application knows of its surroundings.
extension SocketMachine {
    private mutating func networkChanged(_ isUsable: Bool) {
        pauses.isNetworkUsable = isUsable
        if isUsable, phase == .waiting { comeBackSoon() }
    }

    private mutating func pause() {
        guard phase != .paused else { return }
        disconnect()
        phase = .paused
        actions.append(.cancelTimer(.pause))
        tell(.paused)
    }

    private mutating func resume() {
        guard phase == .paused else { return }
        guard feeds.values.contains(where: \.wantsSocket) else { return rest() }
        phase = .waiting
        comeBackSoon()
    }

    private mutating func comeBackSoon() {
        pauses.forgetFailures()
        actions.append(.setTimer(.pause, ReturnPauses.soon * random()))
    }
}
