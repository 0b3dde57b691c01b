import GraphQLTransport
import JSON

/// Follows one topic over one connection after another: what a server says comes
/// in, what to do goes out.
///
/// **Where a feed begins.** With a cursor it goes on after it. Without one it begins "now", and
/// "now" must survive the loss of the first connection. So the client first asks the topic where
/// its feed stands, and subscribes with that cursor, however often the connection breaks.
///
/// **Exactly once.** Numbers are dense in a topic. What was given out before is dropped; a hole is
/// met by asking again after the last cursor. A hole that is still there then is the server's own
/// (messages that are not kept any more).
struct FeedMachine {
    /// What to do, in order.
    enum Action: Equatable {
        case send([UInt8])
        case deliver(FeedMessage)
        /// A feed that was to begin now begins behind this point.
        case begin(ResumePoint)
        /// The subscription is live.
        case live
        /// Give this connection up and open another one after a pause.
        case reconnect(FeedFailure)
        /// Give up for good.
        case end(FeedFailure)
    }

    private enum Start: Equatable {
        /// Nothing is known yet.
        case unknown
        /// Before the first message.
        case beginning
        case after(cursor: String)
    }

    private enum Phase: Equatable {
        case disconnected, acknowledging, findingStart, subscribing, live
    }

    private enum OperationID {
        static let feed = "feed"
        static let start = "start"
    }

    let topicID: String
    private let credentials: Credentials
    private let limits: JSONLimits
    private var session: TransportWSClientSession
    private var start: Start
    private var phase = Phase.disconnected
    /// The number of the message given out last; 0 when the topic began empty.
    private var lastNumber: Int64?
    /// The last number at which a hole was met by asking again.
    private var holeAskedAfter: Int64?

    /// A feed that has not begun; longer messages of the server end it.
    init(topicID: String, token: String?, start: MessageFeed.Start, maximumMessageBytes: Int) {
        self.topicID = topicID
        credentials = Credentials(authorization: token)
        limits = JSONLimits(maximumBytes: maximumMessageBytes)
        session = TransportWSClientSession(credentials: credentials, limits: limits)
        switch start {
        case .now: self.start = .unknown
        case .after(let cursor): self.start = .after(cursor: cursor)
        case .point(let point):
            self.start = point.cursor.map(Start.after) ?? .beginning
            lastNumber = point.number
        }
    }

    /// The cursor of the message given out last, or the one the feed began with.
    var cursor: String? {
        if case .after(let cursor) = start { return cursor }
        return nil
    }

    /// A connection is open.
    mutating func connected() -> [Action] {
        phase = .acknowledging
        session = TransportWSClientSession(credentials: credentials, limits: limits)
        return handle(.opened)
    }

    /// The connection is closed.
    mutating func disconnected(code: Int?, reason: String) -> [Action] {
        phase = .disconnected
        let failure = FeedFailure(closeCode: code, reason: reason)
        return [failure.isTemporary ? .reconnect(failure) : .end(failure)]
    }

    /// The server said something.
    mutating func received(_ text: [UInt8]) -> [Action] { handle(.text(text)) }

    /// Hands an event to the protocol's session and goes on with what comes of it.
    private mutating func handle(_ event: TransportWSClientSession.Event) -> [Action] {
        session.handle(event).flatMap { action -> [Action] in
            switch action {
            case .send(let text): [.send(text)]
            case .close(_, let reason): [.end(FeedFailure(.badAnswer, "The server broke the protocol. \(reason)."))]
            case .connected: acknowledged()
            case .alive: confirmed()
            case .next(let id, let response): next(id, .object(response))
            case .failed(_, let errors): failed(GraphQLAnswer.firstError(of: .array(errors)))
            case .completed(OperationID.feed):
                [.reconnect(FeedFailure(.unavailable, "The server ended the subscription."))]
            case .completed, .interrupted: []
            }
        }
    }

    private mutating func next(_ id: String, _ response: JSONValue) -> [Action] {
        switch id {
        case OperationID.feed: received(response)
        default: foundStart(response)
        }
    }

    private func failed(_ error: ClientError?) -> [Action] {
        var failure = error.map { FeedFailure($0.code, $0.message) } ?? .strange
        failure.oldestCursor = error?.oldestCursor
        return [failure.isTemporary ? .reconnect(failure) : .end(failure)]
    }
}

// Finding the start and becoming live.
extension FeedMachine {
    private mutating func acknowledged() -> [Action] {
        guard phase == .acknowledging else { return [.end(.strange)] }
        guard start == .unknown else { return subscribe() }
        phase = .findingStart
        return run(OperationID.start, Documents.standOfTopic)
    }

    private mutating func foundStart(_ payload: JSONValue) -> [Action] {
        guard phase == .findingStart else { return [] }
        if let error = GraphQLAnswer.firstError(of: payload["errors"]) { return failed(error) }
        let topic = payload["data"]?["getTopic"]
        guard let cursor = topic?["cursor"]?.stringValue, let number = topic?["lastNumber"]?.intValue else {
            return [.end(.strange)]
        }
        start = .after(cursor: cursor)
        lastNumber = number
        return [.begin(ResumePoint(topicID: topicID, number: number, cursor: cursor))] + subscribe()
    }

    private mutating func subscribe() -> [Action] {
        phase = .subscribing
        return run(OperationID.feed, Documents.follow, ["after": .string(cursor ?? "")]) + handle(.ping)
    }

    /// The ping sent after the subscription is answered: no message is missed from here on.
    private mutating func confirmed() -> [Action] {
        guard phase == .subscribing else { return [] }
        phase = .live
        return [.live]
    }

    private mutating func run(_ id: String, _ document: String, _ variables: JSONObject = [:]) -> [Action] {
        var variables = variables
        variables["topicId"] = .string(topicID)
        return handle(.subscribe(id: id, GraphQLRequest(query: document, variables: variables)))
    }
}

// What the subscription brings.
extension FeedMachine {
    private mutating func received(_ payload: JSONValue) -> [Action] {
        guard let message = FeedMessage(payload["data"]?["onCreateMessage"]) else {
            return failed(GraphQLAnswer.firstError(of: payload["errors"]))
        }
        guard let lastNumber, message.number > lastNumber + 1, holeAskedAfter != lastNumber else {
            return deliver(message)
        }
        holeAskedAfter = lastNumber
        let hole = "Message \(lastNumber + 1) was expected, \(message.number) came."
        return [.reconnect(FeedFailure(.connectionFailed, hole))]
    }

    private mutating func deliver(_ message: FeedMessage) -> [Action] {
        guard message.number > lastNumber ?? 0 else { return [] }
        lastNumber = message.number
        start = .after(cursor: message.cursor)
        return [.deliver(message)]
    }
}
