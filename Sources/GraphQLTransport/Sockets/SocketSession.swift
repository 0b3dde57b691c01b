public import GraphQL
public import JSON

/// One protocol spoken over a WebSocket or an event stream: events in, actions out, nothing done.
///
/// Every protocol is driven by the same performer and keeps its operations in the same slots, so
/// that a limit or a fix in one is a limit or a fix in all. An operation is known to the performer
/// by a number that is never used twice on one connection, whatever the client calls it.
public protocol SocketSession: Sendable {
    /// Takes what happened and says what to do, in order.
    mutating func handle(_ event: SessionEvent) -> [SessionAction]
    /// What comes around all responses of this operation as long as it runs;
    /// `nil` when it gets none.
    ///
    /// A performer that has responses for many sessions asks for this once instead of
    /// telling each of them `next`.
    func envelope(of number: Int) -> ResponseEnvelope?
}

extension SocketSession {
    /// None: the session serves no subscriptions.
    public func envelope(of number: Int) -> ResponseEnvelope? { nil }
}

/// What can happen to a session.
public enum SessionEvent: Sendable, Hashable {
    /// The socket is open; comes first, once.
    case opened
    /// A whole text message came, valid UTF-8.
    case text([UInt8])
    /// A whole binary message came.
    case binary([UInt8])
    /// A ping frame came.
    case pingFrame([UInt8])
    /// A timer the session asked for has run out.
    case timer(SessionTimer)
    /// The performer has judged the credentials of the last `authenticate`.
    case authenticated(SessionAuthentication)
    /// The operation is a subscription and registered.
    case subscribed(Int)
    /// The operation's subscription has brought all that was stored before: what comes is new.
    case caughtUp(Int)
    /// The operation's subscription has a response.
    case next(Int, SharedResponse)
    /// The operation's subscription has ended.
    case ended(Int, StreamEnd)
    /// The operation was a query, a mutation or could not run.
    case replied(Int, GraphQLReply)
    /// The operation's subscription was refused; a JSON array of errors.
    case refused(Int, errors: [UInt8])
    /// The credentials the operation brought were not accepted.
    case denied(Int, SessionAuthentication)
    /// The operation is not of a kind the session asked for.
    case unsupported(Int, OperationKind)
    /// The token the connection was opened with has ended.
    case tokenEnded
    /// The performer has judged the credentials of the last `reauthenticate`.
    case reauthenticated(SessionReauthentication)
    /// More waits to be read than may: what has been sent so far is all that operations
    /// bring. Where in the streams of the operations with these numbers the last
    /// response that was sent stands.
    case overflowed(lastCursors: [Int: String])
    /// The connection has lived as long as one may.
    case lifetimeEnded
    /// The caller has other rights now than when the connection was opened.
    case rightsChanged
    /// The server stops.
    case shutdown
}

/// What a session can ask for.
public enum SessionAction: Sendable, Hashable {
    /// Send a text message.
    case send(SocketMessage)
    /// Send a binary message.
    case sendBinary([UInt8])
    /// Send a pong frame.
    case pongFrame([UInt8])
    /// Close the connection; the last action ever. Whatever still runs is cancelled.
    case close(code: UInt16, reason: String)
    /// Find out who this is, then tell `authenticated`.
    case authenticate(Credentials)
    /// Find out whether these are newer credentials of the same user and let everything go on by
    /// them, then tell `reauthenticated`.
    case reauthenticate(Credentials)
    /// Run the operation, then tell `replied`, or `subscribed` or `refused`; or why not.
    case start(Int, OperationStart)
    /// Stop the operation and tell nothing more of it.
    case cancel(Int)
    /// Tell `timer` after this time, unless it is set again or cancelled.
    case setTimer(SessionTimer, milliseconds: Int)
    /// Forget the timer.
    case cancelTimer(SessionTimer)
}

/// An operation as a session wants it run.
public struct OperationStart: Sendable, Hashable {
    /// What to run.
    public var request: GraphQLRequest
    /// Who asks; `nil` for the connection's caller.
    public var credentials: Credentials?
    /// Whether queries and mutations are to be told as `unsupported`.
    public var isSubscriptionOnly: Bool
    /// How responses travel.
    public var options: SubscribeOptions

    /// An operation of these parts.
    public init(
        _ request: GraphQLRequest,
        credentials: Credentials? = nil,
        isSubscriptionOnly: Bool = false,
        options: SubscribeOptions = SubscribeOptions()
    ) {
        self.request = request
        self.credentials = credentials
        self.isSubscriptionOnly = isSubscriptionOnly
        self.options = options
    }
}

/// The timers a session may set.
public enum SessionTimer: Sendable, Hashable {
    /// The client must introduce itself by then.
    case initialisation
    /// A sign of life is due, where the protocol has its own.
    case keepAlive
    /// A client that was refused has had time to read why.
    case farewell
}

/// What became of the credentials a session asked about.
public enum SessionAuthentication: Sendable, Hashable {
    /// They are good, and the performer knows the caller; what clients are told with it, where the
    /// protocol has room for it.
    case accepted(welcome: JSONObject)
    /// They are bad; the message is for the client.
    case refused(message: String)
    /// They cannot be judged now; the message is for the client.
    case unavailable(message: String)
}

/// What became of newer credentials for a connection that has some already.
public enum SessionReauthentication: Sendable, Hashable {
    /// The connection goes on by them until then, in Unix milliseconds; `nil` when they never end.
    case accepted(expiresAt: Int64?)
    /// They are somebody else's.
    case otherUser
    /// They are bad, and those before stay in force; the message is for the client.
    case refused(message: String)
    /// They cannot be judged now, and those before stay in force; the message is for the client.
    case unavailable(message: String)
}

/// One text message in three parts, so that the shared middle is copied only when it is framed.
public struct SocketMessage: Sendable, Hashable {
    /// What comes before the shared part.
    public var prefix: [UInt8]
    /// The part that many sockets share.
    public var shared: [UInt8]
    /// What comes after it.
    public var suffix: [UInt8]

    /// A message of these parts.
    public init(prefix: [UInt8], shared: [UInt8] = [], suffix: [UInt8] = []) {
        self.prefix = prefix
        self.shared = shared
        self.suffix = suffix
    }

    /// How many bytes the message has.
    public var count: Int { prefix.count + shared.count + suffix.count }
    /// The message in one piece.
    public var bytes: [UInt8] { prefix + shared + suffix }
}

/// What clients are told when a connection ends for a reason that no protocol has words for.
enum SessionGoodbye {
    /// The reason of the close when more waits to be read than may.
    static let tooSlow = "Too much is waiting to be read; come again and resume"
    /// The reason of the close when a connection has lived as long as one may.
    static let lifetime = "This connection has lived its time; come again and resume"

    /// The reason of the close when the caller's groups have changed.
    static let rightsChanged = "Your groups have changed; come again and resume"

    /// The errors of an operation whose client does not read, with the cursor to go on from: a JSON
    /// array.
    static func overflow(lastCursor: String?) -> [UInt8] {
        var extensions: JSONObject = ["code": .string(ErrorCode.unavailable.rawValue)]
        if let lastCursor { extensions["cursor"] = .string(lastCursor) }
        let error: JSONObject = [
            "message": .string("Too much is waiting to be read. Subscribe again after the last cursor."),
            "extensions": .object(extensions),
        ]
        return JSONValue.array([.object(error)]).serialized()
    }
}
