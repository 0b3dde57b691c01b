import GraphQLTransport
import JSON

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

    mutating func took(_ newer: HeldCredentials) {
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

    mutating func tokenFailed(_ error: ClientError) {
        switch phase {
        case .asking, .ready: endAll(error)
        case .idle, .waiting, .opening, .greeting, .paused: break
        }
    }

    mutating func opened() {
        guard phase == .opening, let held else { return }
        phase = .greeting
        actions.append(.setTimer(.handshake, settings.handshakeTimeout))
        session = TransportWSClientSession(
            credentials: held.credentials,
            limits: JSONLimits(maximumBytes: settings.maximumAnswerBytes)
        )
        perform(.opened)
    }

    mutating func openFailed(_ error: ClientError) {
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

    mutating func timeIsUp(_ timer: Timer) {
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
    mutating func networkChanged(_ isUsable: Bool) {
        pauses.isNetworkUsable = isUsable
        guard isUsable else { return }
        if phase == .waiting { comeBackSoon() }
        // The socket may have been lost with the network before, without a word.
        if phase == .ready, livePing == nil { ping(within: Self.probeTimeout) }
    }

    mutating func pause() {
        guard phase != .paused else { return }
        disconnect()
        phase = .paused
        actions.append(.cancelTimer(.pause))
        tell(.paused)
    }

    mutating func resume() {
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
