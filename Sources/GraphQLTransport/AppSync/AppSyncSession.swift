import GraphQL
import JSON

/// The server's side of AppSync's real-time protocol as a pure state machine.
///
/// Credentials come with the upgrade and again with each subscription. A refusal is told
/// on the open socket, because browsers show nothing of a refused upgrade and their
/// clients would try for ever.
public struct AppSyncSession: SocketSession {
    /// The subprotocol's name.
    public static let subprotocol = AppSyncMessage.subprotocol

    enum Phase {
        /// The performer judges the credentials; messages wait, of so many bytes.
        case authenticating([JSONObject], bytes: Int)
        /// Operations are served.
        case ready
        /// The client was told why it is not served, and has a moment to read it.
        case refused(SocketCloseCode, String)
        /// A close was asked for; nothing happens any more.
        case closed
    }

    let limits: SocketSessionLimits
    let handshake: AppSyncHandshake
    var phase = Phase.authenticating([], bytes: 0)
    var slots: OperationSlots
    /// Whether the client has shown that it is there, and gets signs of life.
    var isIntroduced = false
    /// The token the connection was opened with has ended; only subscriptions with
    /// tokens of their own go on.
    var connectionHasEnded = false

    /// A session that has not begun.
    public init(limits: SocketSessionLimits, handshake: AppSyncHandshake) {
        self.limits = limits
        self.handshake = handshake
        slots = OperationSlots(maximum: limits.maximumOperations)
    }

    /// Takes what happened and says what to do, in order.
    public mutating func handle(_ event: SessionEvent) -> [SessionAction] {
        switch (phase, event) {
        case (.closed, _): []
        case (_, .shutdown): close(.goingAway, "The server is stopping")
        case (.refused(let code, let reason), .timer(.farewell)): close(code, reason)
        case (.refused, .pingFrame(let payload)): [.pongFrame(payload)]
        case (.refused, _): []
        case (_, .opened): opened()
        case (_, .text(let bytes)): received(bytes)
        case (_, .binary): close(.unsupportedData, "Binary messages are not served; send text")
        case (_, .pingFrame(let payload)): slots.answer(.frame(payload))
        case (_, .timer(let timer)): ranOut(timer)
        case (_, .authenticated(let outcome)): authenticated(outcome)
        case (_, .tokenEnded): tokenEnded()
        case (_, .overflowed(let lastCursors)): overflowed(lastCursors)
        case (_, .lifetimeEnded): close(.goingAway, SessionGoodbye.lifetime)
        case (_, .rightsChanged): close(.goingAway, SessionGoodbye.rightsChanged)
        default: ofOperation(event)
        }
    }

    /// The head of `data` with the operation's id.
    public func envelope(of number: Int) -> ResponseEnvelope? {
        slots[number].map { .message(head: $0.nextHead) }
    }

    mutating func close(_ code: SocketCloseCode, _ reason: String) -> [SessionAction] {
        phase = .closed
        slots.closeAll()
        return [.close(code, reason)]
    }
}

// The connection.
extension AppSyncSession {
    private mutating func opened() -> [SessionAction] {
        switch handshake {
        case .credentials(let credentials):
            return [
                .setTimer(.initialisation, milliseconds: limits.initialisationMilliseconds),
                .authenticate(credentials),
            ]
        case .malformed: return refuse(.unauthorized, "You are not authorized to make this call.", 401, .unauthorized)
        case .noProtocol:
            let message = "The subprotocol \(Self.subprotocol) was not offered."
            return refuse(.noProtocol, message, 400, .subprotocolNotAcceptable)
        }
    }

    private mutating func authenticated(_ outcome: SessionAuthentication) -> [SessionAction] {
        guard case .authenticating(let waiting, _) = phase else { return [] }
        switch outcome {
        case .accepted:
            phase = .ready
            return waiting.flatMap { message -> [SessionAction] in received(message) }
        case .refused(let message): return refuse(.unauthorized, message, 401, .unauthorized)
        case .unavailable(let message): return refuse(.unavailable, message, 503, .tryAgainLater)
        }
    }

    /// Says why, and leaves the socket open for a moment: some clients write before they read.
    private mutating func refuse(
        _ fault: AppSyncMessage.Fault,
        _ message: String,
        _ status: Int,
        _ code: SocketCloseCode
    ) -> [SessionAction] {
        phase = .refused(code, message)
        return [
            .send(AppSyncMessage.connectionError(fault, message, code: status)),
            .cancelTimer(.initialisation),
            .setTimer(.farewell, milliseconds: limits.farewellMilliseconds),
        ]
    }

    private mutating func ranOut(_ timer: SessionTimer) -> [SessionAction] {
        switch timer {
        case .initialisation:
            // Whoever has written and waits for us is not late.
            if case .authenticating(let waiting, _) = phase, !waiting.isEmpty { return [] }
            return isIntroduced ? [] : close(.initialisationTimeout, "Connection initialisation timeout")
        case .keepAlive: return keepAlive
        case .farewell: return []
        }
    }

    /// Sent on busy connections too: some clients count nothing else as a sign of life.
    var keepAlive: [SessionAction] {
        [.send(AppSyncMessage.keepAlive), .setTimer(.keepAlive, milliseconds: limits.keepAliveMilliseconds)]
    }

    private mutating func tokenEnded() -> [SessionAction] {
        connectionHasEnded = true
        let ended = slots.ofConnectionsCaller
        let goodbyes = ended.flatMap { number -> [SessionAction] in [.cancel(number)] + finish(number, .tokenEnded) }
        return goodbyes + closeIfOver()
    }

    /// Ends each operation with the cursor to go on from, for clients that read on after all.
    private mutating func overflowed(_ lastCursors: [Int: String]) -> [SessionAction] {
        let goodbyes = slots.inOrder.map { operation in
            let errors = SessionGoodbye.overflow(lastCursor: lastCursors[operation.number])
            return SessionAction.send(AppSyncMessage.error(id: operation.id, errors: errors))
        }
        return goodbyes + close(.tryAgainLater, SessionGoodbye.tooSlow)
    }

    /// Closes when nothing runs for which the connection would be kept.
    func isOver() -> Bool { connectionHasEnded && slots.isEmpty }

    mutating func closeIfOver() -> [SessionAction] {
        if case .closed = phase { return [] }
        return isOver() ? close(.unauthorized, "The token has expired") : []
    }
}

// What operations bring.
extension AppSyncSession {
    /// How an operation ends.
    enum Ending {
        case completed
        case errors([UInt8])
        case fault(AppSyncMessage.Fault, String)

        static var tokenEnded: Ending { .fault(.unauthorized, "Token has expired.") }
    }

    private mutating func ofOperation(_ event: SessionEvent) -> [SessionAction] {
        switch event {
        case .subscribed(let number): return subscribed(number)
        case .next(let number, let response): return next(number, response)
        case .ended(let number, .completed): return finish(number, .completed) + closeIfOver()
        case .ended(let number, .failed(let errors)), .refused(let number, let errors):
            return finish(number, .errors(errors)) + closeIfOver()
        // Whoever loses access loses all that runs by the connection's
        // credentials, and the connection.
        case .ended(let number, .unauthorized) where slots[number]?.hasOwnCredentials == false: return tokenEnded()
        case .ended(let number, .unauthorized): return finish(number, .tokenEnded) + closeIfOver()
        case .ended(_, .rightsChanged): return close(.goingAway, SessionGoodbye.rightsChanged)
        case .ended(_, .shuttingDown): return close(.goingAway, "The server is stopping")
        case .replied(let number, let reply):
            return finish(number, .errors(ErrorBody.errors(of: reply))) + closeIfOver()
        case .denied(let number, .unavailable(let message)):
            return finish(number, .fault(.unavailable, message)) + closeIfOver()
        case .denied(let number, .refused(let message)):
            return finish(number, .fault(.unauthorized, message)) + closeIfOver()
        case .unsupported(let number, let kind):
            let message = "A \(kind.rawValue) is not supported through the realtime channel; send it with POST."
            return finish(number, .fault(.unsupported, message)) + closeIfOver()
        default: return []
        }
    }

    private mutating func subscribed(_ number: Int) -> [SessionAction] {
        guard slots.registered(number), let operation = slots[number] else { return [] }
        return [.send(AppSyncMessage.message(.startAck, id: operation.id))] + slots.releasePongs()
    }

    private mutating func next(_ number: Int, _ response: SharedResponse) -> [SessionAction] {
        guard let envelope = envelope(of: number) else { return [] }
        return [.send(envelope.message(of: response))]
    }

    mutating func finish(_ number: Int, _ ending: Ending) -> [SessionAction] {
        guard let id = slots.close(number)?.id else { return [] }
        let message =
            switch ending {
            case .completed: AppSyncMessage.message(.complete, id: id)
            case .errors(let errors): AppSyncMessage.error(id: id, errors: errors)
            case .fault(let fault, let message): AppSyncMessage.error(id: id, fault, message)
            }
        return [.send(message)] + slots.releasePongs()
    }
}
