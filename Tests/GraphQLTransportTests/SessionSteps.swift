import GraphQLTransport
import Testing

/// One line of a table: an event and what it leads to, written short.
struct Step: Sendable {
    var event: SessionEvent
    var actions: [String]

    init(_ event: SessionEvent, _ actions: String...) {
        self.event = event
        self.actions = actions
    }
}

/// Takes the session through the table.
func expect(
    _ session: some SocketSession,
    to steps: [Step],
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    var session = session
    for (index, step) in steps.enumerated() {
        let actions = session.handle(step.event).map(\.brief)
        #expect(actions == step.actions, "step \(index): \(step.event)", sourceLocation: sourceLocation)
    }
}

extension SessionEvent {
    static func message(_ text: String) -> SessionEvent { .text(Array(text.utf8)) }

    static func subscribe(_ id: String, _ query: String) -> SessionEvent {
        .message("{\"type\":\"subscribe\",\"id\":\"\(id)\",\"payload\":{\"query\":\"\(query)\"}}")
    }
}

extension GraphQLReply {
    static func executed(_ body: String) -> GraphQLReply { GraphQLReply(kind: .executed, body: Array(body.utf8)) }
}

extension SessionAction {
    /// The action in a few words.
    var brief: String {
        switch self {
        case .send(let message): String(decoding: message.bytes, as: UTF8.self)
        case .pongFrame(let payload): "pong \(payload)"
        case .close(let code, let reason): "close \(code) \(reason)"
        case .authenticate(let who): "authenticate \(who.authorization ?? "-") \(who.apiKey ?? "-")"
        case .sendBinary(let bytes): "binary \(bytes)"
        case .reauthenticate(let who): "reauthenticate \(who.authorization ?? "-") \(who.apiKey ?? "-")"
        case .start(let number, let operation): operation.brief(number)
        case .cancel(let number): "cancel \(number)"
        case .setTimer(.initialisation, let milliseconds): "timer \(milliseconds)"
        case .setTimer(let timer, let milliseconds): "\(timer) \(milliseconds)"
        case .cancelTimer: "cancel timer"
        }
    }
}

extension OperationStart {
    func brief(_ number: Int) -> String {
        var words = ["start \(number) \(request.query)"]
        if let credentials { words.append("as \(credentials.authorization ?? "-") \(credentials.apiKey ?? "-")") }
        if isSubscriptionOnly { words.append("subscriptions only") }
        if let cursor = options.resumeAfter { words.append("after \(cursor)") }
        return words.joined(separator: ", ")
    }
}
