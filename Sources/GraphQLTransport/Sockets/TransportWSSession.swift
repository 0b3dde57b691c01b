import GraphQL
import JSON

/// The server's side of `graphql-transport-ws` as a pure state machine.
///
/// A pong is sent only when every subscription asked for before the ping is registered or refused,
/// so that a client can wait for "it is live".
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

    let limits: SocketSessionLimits
    let upgradeCredentials: Credentials
    var phase = Phase.opened
    var slots: OperationSlots
    /// Whether newer credentials are being judged.
    var isReauthenticating = false

    /// A session that has not begun.
    ///
    /// `upgradeCredentials` came with the upgrade request; they count when
    /// `connection_init` brings none.
    public init(limits: SocketSessionLimits, upgradeCredentials: Credentials) {
        self.limits = limits
        self.upgradeCredentials = upgradeCredentials
        slots = OperationSlots(maximum: limits.maximumOperations)
    }

    /// Takes what happened and says what to do, in order.
    public mutating func handle(_ event: SessionEvent) -> [SessionAction] {
        if case .closed = phase { return [] }
        switch event {
        case .opened:
            return [.setTimer(.initialisation, milliseconds: limits.initialisationMilliseconds)]
        case .text(let bytes): return received(bytes)
        case .binary: return close(.unsupportedData, "Binary messages are not served; send text")
        case .pingFrame(let payload): return slots.answer(.frame(payload))
        case .timer(.initialisation): return initialisationTimedOut()
        case .timer: return []
        case .authenticated(let outcome): return authenticated(outcome)
        case .tokenEnded: return close(.forbidden, "Forbidden: the token has expired")
        case .reauthenticated(let outcome): return reauthenticated(outcome)
        case .overflowed(let lastCursors): return overflowed(lastCursors)
        case .lifetimeEnded: return close(.goingAway, SessionGoodbye.lifetime)
        case .rightsChanged: return close(.goingAway, SessionGoodbye.rightsChanged)
        case .shutdown: return close(.goingAway, "The server is stopping")
        case .subscribed(let number): return slots.registered(number) ? slots.releasePongs() : []
        case .caughtUp(let number): return slots.caughtUp(number)
        case .next(let number, let response): return next(number, response)
        case .ended(let number, let reason): return ended(number, reason)
        case .replied(let number, let reply): return replied(number, reply)
        case .refused(let number, let errors): return finish(number, errors: errors)
        // Operations bring no credentials of their own here, and all kinds are served.
        case .denied, .unsupported: return []
        }
    }

    /// The head of `next` with the operation's id.
    public func envelope(of number: Int) -> ResponseEnvelope? {
        slots[number].map { .message(head: $0.nextHead) }
    }

    mutating func close(_ code: SocketCloseCode, _ reason: String) -> [SessionAction] {
        phase = .closed
        slots.closeAll()
        return [.close(code, reason)]
    }

    /// Ends each operation with the cursor to go on from, for clients that read on after all.
    private mutating func overflowed(_ lastCursors: [Int: String]) -> [SessionAction] {
        let goodbyes = slots.inOrder.map { operation in
            let errors = SessionGoodbye.overflow(lastCursor: lastCursors[operation.number])
            return SessionAction.send(TransportWSMessage.message(.error, id: operation.id, payload: errors))
        }
        return goodbyes + close(.tryAgainLater, SessionGoodbye.tooSlow)
    }

    mutating func initialisationTimedOut() -> [SessionAction] {
        guard case .opened = phase else { return [] }
        return close(.initialisationTimeout, "Connection initialisation timeout")
    }

    mutating func authenticated(_ outcome: SessionAuthentication) -> [SessionAction] {
        guard case .authenticating = phase else { return [] }
        switch outcome {
        case .accepted(let welcome):
            phase = .ready
            return [.send(TransportWSMessage.message(.connectionAck, payload: welcome.isEmpty ? nil : welcome))]
        case .refused(let message): return close(.forbidden, "Forbidden: \(message)")
        case .unavailable(let message): return close(.tryAgainLater, message)
        }
    }
}

// What operations bring.
extension TransportWSSession {
    private mutating func next(_ number: Int, _ response: SharedResponse) -> [SessionAction] {
        guard let envelope = envelope(of: number) else { return [] }
        return [.send(envelope.message(of: response))]
    }

    private mutating func ended(_ number: Int, _ reason: StreamEnd) -> [SessionAction] {
        switch reason {
        case .completed: finish(number)
        case .failed(let errors): finish(number, errors: errors)
        case .unauthorized: close(.forbidden, "Forbidden: the token has expired or was revoked")
        case .rightsChanged: close(.goingAway, SessionGoodbye.rightsChanged)
        case .shuttingDown: close(.goingAway, "The server is stopping")
        }
    }

    private mutating func replied(_ number: Int, _ reply: GraphQLReply) -> [SessionAction] {
        guard reply.kind == .executed else { return finish(number, errors: ErrorBody.errors(of: reply)) }
        return next(number, SharedResponse(body: reply.body)) + finish(number)
    }

    private mutating func finish(_ number: Int, errors: [UInt8]? = nil) -> [SessionAction] {
        guard let id = slots.close(number)?.id else { return [] }
        let message =
            if let errors {
                TransportWSMessage.message(.error, id: id, payload: errors)
            } else {
                TransportWSMessage.message(.complete, id: id)
            }
        return [.send(message)] + slots.releasePongs()
    }
}
