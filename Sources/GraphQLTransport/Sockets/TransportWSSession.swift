import JSON

/// The server's side of `graphql-transport-ws` as a pure state machine.
///
/// A pong is sent only when every subscription asked for before the ping is registered or refused, so that a client
/// can wait for "it is live".
public struct TransportWSSession: SocketSession {
    /// The subprotocol's name.
    public static let subprotocol = TransportWSMessage.subprotocol

    enum Phase {
        /// Waits for `connection_init`.
        case opened
        /// The performer judges the credentials.
        case authenticating
        /// Acknowledged: operations are served.
        case ready
        /// A close was asked for; nothing happens any more.
        case closed
    }

    struct Operation {
        let number: Int
        let id: String
        /// What comes before the payload of each response.
        let nextHead: [UInt8]
        var isRegistering = true
    }

    enum Pong {
        case message(JSONObject?)
        case frame([UInt8])
    }

    let limits: SocketSessionLimits
    let upgradeCredentials: Credentials
    var phase = Phase.opened
    var numbers: [String: Int] = [:]
    var operations: [Int: Operation] = [:]
    var lastNumber = 0
    /// Pongs that wait until no operation up to this number is registering.
    var heldPongs: [(upTo: Int, pong: Pong)] = []

    /// A session that has not begun.
    ///
    /// `upgradeCredentials` came with the upgrade request; they count when `connection_init` brings none.
    public init(limits: SocketSessionLimits, upgradeCredentials: Credentials) {
        self.limits = limits
        self.upgradeCredentials = upgradeCredentials
    }

    /// Takes what happened and says what to do, in order.
    public mutating func handle(_ event: SessionEvent) -> [SessionAction] {
        if case .closed = phase { return [] }
        switch event {
        case .opened:
            return [.setTimer(.initialisation, milliseconds: limits.initialisationMilliseconds)]
        case .text(let bytes): return received(bytes)
        case .binary: return close(.unsupportedData, "Binary messages are not served; send text")
        case .pingFrame(let payload): return answer(.frame(payload))
        case .timer(.initialisation): return initialisationTimedOut()
        case .timer(.keepAlive): return []
        case .authenticated(let outcome): return authenticated(outcome)
        case .tokenEnded: return close(.forbidden, "Forbidden: the token has expired")
        case .shutdown: return close(.goingAway, "The server is stopping")
        case .subscribed(let number):
            operations[number]?.isRegistering = false
            return releasePongs()
        case .next(let number, let response): return next(number, response)
        case .ended(let number, let reason): return ended(number, reason)
        case .replied(let number, let reply): return replied(number, reply)
        case .refused(let number, let errors): return finish(number, errors: errors)
        }
    }

    mutating func close(_ code: SocketCloseCode, _ reason: String) -> [SessionAction] {
        phase = .closed
        operations = [:]
        numbers = [:]
        heldPongs = []
        return [.close(code, reason)]
    }

    mutating func initialisationTimedOut() -> [SessionAction] {
        guard case .opened = phase else { return [] }
        return close(.initialisationTimeout, "Connection initialisation timeout")
    }

    mutating func authenticated(_ outcome: SessionAuthentication) -> [SessionAction] {
        guard case .authenticating = phase else { return [] }
        switch outcome {
        case .accepted:
            phase = .ready
            return [.send(TransportWSMessage.message(.connectionAck))]
        case .refused(let message): return close(.forbidden, "Forbidden: \(message)")
        case .unavailable(let message): return close(.tryAgainLater, message)
        }
    }
}

// What operations bring.
extension TransportWSSession {
    private mutating func next(_ number: Int, _ response: SharedResponse) -> [SessionAction] {
        guard let operation = operations[number] else { return [] }
        let message = SocketMessage(
            prefix: operation.nextHead,
            shared: response.body,
            suffix: [UInt8(ascii: "}")]
        )
        return [.send(message)]
    }

    private mutating func ended(_ number: Int, _ reason: StreamEnd) -> [SessionAction] {
        switch reason {
        case .completed: finish(number)
        case .failed(let errors): finish(number, errors: errors)
        case .unauthorized: close(.forbidden, "Forbidden: the token has expired or was revoked")
        case .shuttingDown: close(.goingAway, "The server is stopping")
        }
    }

    private mutating func replied(_ number: Int, _ reply: GraphQLReply) -> [SessionAction] {
        guard reply.kind == .executed else { return finish(number, errors: ErrorBody.errors(of: reply)) }
        return next(number, SharedResponse(body: reply.body)) + finish(number)
    }

    private mutating func finish(_ number: Int, errors: [UInt8]? = nil) -> [SessionAction] {
        guard let id = forget(number) else { return [] }
        let message =
            if let errors {
                TransportWSMessage.message(.error, id: id, payload: errors)
            } else {
                TransportWSMessage.message(.complete, id: id)
            }
        return [.send(message)] + releasePongs()
    }

    /// The id the client gave the operation, if it still ran.
    mutating func forget(_ number: Int) -> String? {
        guard let operation = operations.removeValue(forKey: number) else { return nil }
        numbers[operation.id] = nil
        return operation.id
    }

    mutating func releasePongs() -> [SessionAction] {
        guard !heldPongs.isEmpty else { return [] }
        let firstRegistering = operations.values.lazy.filter(\.isRegistering).map(\.number).min() ?? Int.max
        let free = heldPongs.prefix { $0.upTo < firstRegistering }
        heldPongs.removeFirst(free.count)
        return free.map { Self.action(for: $0.pong) }
    }

    /// Sends a pong now, or holds it while subscriptions asked for before are registering.
    mutating func answer(_ pong: Pong) -> [SessionAction] {
        guard heldPongs.isEmpty, !operations.values.contains(where: \.isRegistering) else {
            // Whoever sends more pings than this without waiting loses the oldest answers.
            if heldPongs.count >= 32 { heldPongs.removeFirst() }
            heldPongs.append((upTo: lastNumber, pong: pong))
            return []
        }
        return [Self.action(for: pong)]
    }

    private static func action(for pong: Pong) -> SessionAction {
        switch pong {
        case .message(let payload): .send(TransportWSMessage.message(.pong, payload: payload))
        case .frame(let payload): .pongFrame(payload)
        }
    }
}
