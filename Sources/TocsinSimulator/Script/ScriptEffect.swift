/// What a script does to a push.
enum ScriptEffect: Sendable {
    case apns(APNsReason)
    /// 410 Unregistered, with a time this far back.
    case unregistered(agoSeconds: Int64)
    /// Refused for a reason no document lists.
    case unheardReason
    /// 503 Shutdown, then GOAWAY.
    case shutdown
    case fcm(FCMFailure)
    case webPush(WebPushRefusal)
    case wire(WireFault)
    /// The answer is decided at once and comes this much later.
    indirect case late(ScriptEffect, seconds: Double)
}

/// What happens to a push's stream or connection in place of the provider's own answer.
enum WireFault: Sendable {
    /// The right answer, but late; `nil` for the usual lateness.
    case slow(seconds: Double?)
    case silence
    case headersOnly
    case reset(errorCode: UInt32)
    /// Accepted, but the answer is lost with its stream.
    case acceptedThenReset
    case goAway(GoAway)
    case hangUp
    /// Accepted, but the answer is lost with the connection.
    case acceptedThenHangUp
    /// A page of something between sender and provider.
    case foreign(status: Int)

    /// As scripts and statistics call it.
    var name: String {
        switch self {
        case .slow: "slow"
        case .silence: "silence"
        case .headersOnly: "headers-only"
        case .reset(errorCode: 7): "refused-stream"
        case .reset: "reset"
        case .acceptedThenReset: "lost-answer"
        case .goAway(let goAway): goAway.isAnswered ? "goaway" : "goaway-refused"
        case .hangUp: "close"
        case .acceptedThenHangUp: "close-after-accept"
        case .foreign: "bad-gateway"
        }
    }

    /// Whether the provider takes the push, whatever its sender hears of it.
    var accepts: Bool {
        switch self {
        case .slow, .acceptedThenReset, .acceptedThenHangUp: true
        case .goAway(let goAway): goAway.isAnswered
        case .silence, .headersOnly, .reset, .hangUp, .foreign: false
        }
    }

    /// The same for both providers; `answer` is what an accepted push gets.
    func reply(slowSeconds: Double, answer: () -> WireAnswer) -> WireReply {
        switch self {
        case .slow(let seconds): .late(answer(), afterSeconds: seconds ?? slowSeconds)
        case .silence: .silence
        case .headersOnly: .headersOnly(status: 200)
        case .reset(let errorCode): .reset(errorCode: errorCode)
        case .acceptedThenReset: .reset(errorCode: 2)
        case .goAway(let goAway): .goAway(goAway.isAnswered ? answer() : nil, goAway)
        case .hangUp, .acceptedThenHangUp: .hangUp
        case .foreign(let status):
            .answer(
                WireAnswer(
                    status: status,
                    headers: [("content-type", "text/html")],
                    body: Array("<html><body>\(status)</body></html>".utf8)
                )
            )
        }
    }
}

/// How a connection is told to end.
struct GoAway: Sendable, Hashable {
    /// Whether the push that meets it is answered first.
    var isAnswered = true
    /// The last stream that was processed; `nil` for the push's own, or the one before
    /// when it is not answered.
    var lastStream: Int32?
    /// What the frame's debug data gives as `reason`.
    var reason = "Shutdown"
}
