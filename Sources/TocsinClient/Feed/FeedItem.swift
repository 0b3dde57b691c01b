package import JSON

/// What a reader gets, in order.
package enum FeedItem: Sendable {
    /// A message of a feed.
    case message(FeedMessage)
    /// The data of an event of any other subscription.
    case event(JSONValue)
    /// A feed that was to begin now begins behind this point.
    case begun(ResumePoint)
    /// What happens from now on will come.
    case live
    /// What was stored before has come; the place behind it, where there is one.
    case caughtUp(FeedPlace?)
    /// Nothing comes until another attempt after the pause.
    case interrupted(ClientError, pause: Duration)
    /// Nothing comes any more; without an error the server has completed the operation.
    case end(ClientError?)

    /// Whether it counts for how far a reader is behind.
    var isContent: Bool {
        switch self {
        case .message, .event: true
        case .begun, .live, .caughtUp, .interrupted, .end: false
        }
    }
}

/// What a reader wants of a socket, over one operation after the other: responses come in, what to
/// do goes out.
package protocol SocketOperation: Sendable {
    /// The operation may be sent; also after every interruption.
    mutating func begin() -> [OperationAction]
    /// The operation that runs has a response.
    mutating func received(_ response: JSONObject) -> [OperationAction]
    /// The server has completed the operation that ran.
    mutating func completed() -> [OperationAction]
    /// The server has taken the operation that runs: nothing is missed from here on.
    mutating func confirmed() -> [OperationAction]
    /// What was stored before the operation began has come.
    mutating func caughtUp() -> [OperationAction]
}

/// What to do for a reader, in order.
package enum OperationAction: Sendable {
    /// Send this in place of what runs.
    case run(query: String, variables: JSONObject)
    /// Hand this to the reader.
    case give(FeedItem)
    /// Begin again, at once.
    case again(FeedFailure)
    /// Begin again after a pause, or end, as the failure is.
    case fail(FeedFailure)
    /// The server has completed what the reader wanted.
    case end
}
