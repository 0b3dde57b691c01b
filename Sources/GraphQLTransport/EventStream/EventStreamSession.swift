import GraphQL
import JSON

/// One operation over server-sent events (GraphQL over SSE, distinct connections mode; HTML §9.2)
/// as a pure state machine.
///
/// What it sends are whole pieces of the stream. The caller is known before it begins.
public struct EventStreamSession: SocketSession {
    /// What the stream answers.
    public enum Content: Sendable, Hashable {
        /// Run this.
        case operation(GraphQLRequest)
        /// This request could not run.
        case reply(GraphQLReply)
    }

    private let content: Content
    private let resumeAfter: String?
    private let limits: SocketSessionLimits
    private var isOver = false
    private var isLive = false
    private var isCaughtUp = false
    private static let number = 1

    /// A session that has not begun; `lastEventID` is what a client that comes again has seen last.
    public init(_ content: Content, lastEventID: String? = nil, limits: SocketSessionLimits) {
        self.content = content
        self.limits = limits
        resumeAfter = lastEventID
    }

    /// Takes what happened and says what to do, in order.
    public mutating func handle(_ event: SessionEvent) -> [SessionAction] {
        guard !isOver else { return [] }
        switch event {
        case .opened: return opened()
        case .next(let number, let response):
            guard let envelope = envelope(of: number) else { return [] }
            return [.send(envelope.message(of: response))]
        case .replied(_, let reply): return finish(SharedResponse(body: reply.body))
        case .refused(_, let errors), .ended(_, .failed(let errors)): return finish(Self.response(errors))
        case .ended(_, .completed): return finish(nil)
        case .ended(_, .unauthorized), .tokenEnded: return tokenEnded()
        case .ended(_, .shuttingDown), .shutdown: return leave(.goingAway, "The server is stopping")
        case .ended(_, .rightsChanged), .rightsChanged: return leave(.goingAway, SessionGoodbye.rightsChanged)
        case .lifetimeEnded: return leave(.goingAway, SessionGoodbye.lifetime)
        case .overflowed(let lastCursors):
            // Without a cursor of its own: it is no event of the stream, whose last one the
            // client names when it comes.
            let last = Self.response(SessionGoodbye.overflow(lastCursor: lastCursors[Self.number]))
            return [.send(Self.next(last))] + leave(.tryAgainLater, SessionGoodbye.tooSlow)
        case .subscribed: return subscribed()
        case .caughtUp: return caughtUp()
        case .timer(.keepAlive): return [.send(SocketMessage(prefix: Self.comment)), keepAlive]
        // Nothing comes from the client, and it was authenticated before.
        case .timer, .text, .binary, .pingFrame, .authenticated, .reauthenticated, .denied, .unsupported:
            return []
        }
    }

    /// The one operation's, until the stream is over.
    public func envelope(of number: Int) -> ResponseEnvelope? { isOver ? nil : .event }

    private mutating func opened() -> [SessionAction] {
        switch content {
        case .reply(let reply): return finish(SharedResponse(body: reply.body))
        case .operation(let request):
            let options = SubscribeOptions(resumeAfter: resumeAfter)
            return [.start(Self.number, OperationStart(request, options: options)), keepAlive]
        }
    }

    private mutating func subscribed() -> [SessionAction] {
        isLive = true
        let comments = isCaughtUp ? Self.live + Self.isBehind : Self.live
        return [.send(SocketMessage(prefix: comments))]
    }

    /// Where nothing was stored, this may be known before the stream is.
    private mutating func caughtUp() -> [SessionAction] {
        isCaughtUp = true
        return isLive ? [.send(SocketMessage(prefix: Self.isBehind))] : []
    }

    private var keepAlive: SessionAction { .setTimer(.keepAlive, milliseconds: limits.commentMilliseconds) }

    /// Ends without `complete`: the client comes again.
    private mutating func leave(_ code: SocketCloseCode, _ reason: String) -> [SessionAction] {
        isOver = true
        return [.close(code, reason)]
    }

    private mutating func tokenEnded() -> [SessionAction] {
        finish(Self.response(ErrorBody.errors("Token has expired.", code: .unauthenticated)))
    }

    private mutating func finish(_ last: SharedResponse?) -> [SessionAction] {
        isOver = true
        let messages = [last.map(Self.next), SocketMessage(prefix: Self.complete)].compactMap(\.self)
        return messages.map { .send($0) } + [.close(.normal, "")]
    }

    private static func response(_ errors: [UInt8]) -> SharedResponse {
        SharedResponse(body: Array(#"{"errors":"#.utf8) + errors + [UInt8(ascii: "}")])
    }
}

// The pieces of the stream.
extension EventStreamSession {
    private static let comment = Array(":\n\n".utf8)
    /// Says that nothing committed from now on is missed.
    private static let live = Array(": live\n\n".utf8)
    /// Says that what comes from now on was not stored when the stream began.
    private static let isBehind = Array(": caught up\n\n".utf8)
    /// A browser tells of no event that has no `data` line.
    private static let complete = Array("event: complete\ndata:\n\n".utf8)

    private static func next(_ response: SharedResponse) -> SocketMessage {
        ResponseEnvelope.event.message(of: response)
    }
}
