public import GraphQL
public import JSON

/// What a transport serves: it authenticates once, then executes requests to bytes
/// or to a stream of bytes.
///
/// The transports know nothing of the schema behind it; the service knows nothing of sockets.
public protocol GraphQLService: Sendable {
    /// Who asks, as the service knows it.
    associatedtype Caller: Sendable

    /// Who sent these credentials.
    ///
    /// Over HTTP this is asked for every request whose sender `recognize` does not know, also when
    /// it carries no credentials.
    func authenticate(_ credentials: Credentials) async -> AuthenticationOutcome<Caller>

    /// Whoever shows nothing of who they are, where some operations are for everybody.
    ///
    /// Asked over HTTP alone, for a `POST` without credentials; all other operations of theirs are
    /// `refused`.
    var stranger: Caller? { get }

    /// What stands for these credentials when a caller is looked up again; it
    /// tells nothing of their text.
    ///
    /// A connection keeps it for as long as it is shown the same credentials. Empty where
    /// there is nothing to look up.
    func fingerprint(of credentials: Credentials) -> [UInt8]

    /// Who sent the credentials of this fingerprint, where that was found out a short
    /// while ago and still holds, also for who sends them from this address.
    ///
    /// It does not wait. Asked for every request over HTTP; what it does not know is authenticated.
    func recognize(_ fingerprint: [UInt8], from remoteAddress: String?) -> Caller?

    /// When the caller's token ends, in Unix milliseconds; `nil` when it never does.
    ///
    /// Sockets of the caller are closed then.
    func expiry(of caller: Caller) -> Int64?

    /// Whether the caller, who was let in before, has lost access since.
    ///
    /// Asked when access of anybody has ended; sockets of the caller are closed then.
    func hasLostAccess(_ caller: Caller) -> Bool

    /// Whether the caller, who was let in before, has other rights now.
    ///
    /// Asked when rights of anybody have changed; sockets of the caller are closed then, for the
    /// client to open again.
    func hasOutdatedRights(_ caller: Caller) -> Bool

    /// What a client may know of the service when it is let in; nothing by default.
    ///
    /// The end of its token is added to it.
    var welcome: JSONObject { get }

    /// Whose sockets and event streams are counted together, for the limit on those of one
    /// owner; `nil` counts none.
    func socketGroup(of caller: Caller) -> String?

    /// Whether both callers are one user, who may then show a newer token on a connection.
    func isSameUser(_ caller: Caller, as other: Caller) -> Bool

    /// The stream's caller has shown a newer token: the stream goes on by it, or is ended
    /// if it gives other rights.
    func renew(_ stream: any StreamHandle, caller: Caller)

    /// What the request would run, and how, without running it.
    ///
    /// It does not wait: parsing and planning are synchronous and their result
    /// is expected to be cached.
    func operation(of request: GraphQLRequest, caller: Caller, style: ResponseStyle) -> OperationLookup

    /// The same for a request of which the transport knows where it came from.
    func operation(
        of request: GraphQLRequest,
        caller: Caller,
        style: ResponseStyle,
        from source: RequestSource?
    ) -> OperationLookup

    /// Runs a query or a mutation to its complete response.
    ///
    /// Its task is cancelled when the connection that asked has gone.
    func execute(_ request: GraphQLRequest, caller: Caller, style: ResponseStyle) async -> GraphQLReply

    /// Starts a subscription, whose responses go to `sink`.
    ///
    /// The subscription is registered when this returns; responses may reach the sink
    /// before. A stream that was returned is always either ended by the service or
    /// cancelled by the transport.
    func subscribe(
        _ request: GraphQLRequest,
        caller: Caller,
        options: SubscribeOptions,
        sink: any ResponseSink
    ) async -> SubscribeOutcome
}

extension GraphQLService {
    /// Nobody is let in without credentials.
    public var stranger: Caller? { nil }

    /// Nothing is looked up again.
    public func fingerprint(of credentials: Credentials) -> [UInt8] { [] }

    /// Nobody is known: all credentials are authenticated each time.
    public func recognize(_ fingerprint: [UInt8], from remoteAddress: String?) -> Caller? { nil }

    /// Nobody loses access before their token ends.
    public func hasLostAccess(_ caller: Caller) -> Bool { false }

    /// Nobody's rights change.
    public func hasOutdatedRights(_ caller: Caller) -> Bool { false }

    /// Tells nothing.
    public var welcome: JSONObject { [:] }

    /// Counts no sockets together.
    public func socketGroup(of caller: Caller) -> String? { nil }

    /// Knows no two tokens of one user.
    public func isSameUser(_ caller: Caller, as other: Caller) -> Bool { false }

    /// Streams do not ask who listens.
    public func renew(_ stream: any StreamHandle, caller: Caller) {}

    /// Takes no note of where requests come from.
    public func operation(
        of request: GraphQLRequest,
        caller: Caller,
        style: ResponseStyle,
        from source: RequestSource?
    ) -> OperationLookup {
        operation(of: request, caller: caller, style: style)
    }

    /// Starts a subscription from now on, with errors as the specification writes them.
    public func subscribe(
        _ request: GraphQLRequest,
        caller: Caller,
        sink: any ResponseSink
    ) async -> SubscribeOutcome {
        await subscribe(request, caller: caller, options: SubscribeOptions(), sink: sink)
    }
}

/// What became of credentials.
public enum AuthenticationOutcome<Caller: Sendable>: Sendable {
    /// They are good.
    case caller(Caller)
    /// They are missing or bad; the message is for the client.
    case refused(message: String)
    /// They cannot be judged now; the message is for the client.
    case unavailable(message: String)
}

/// What a request would run.
///
/// Its kinds are cases of its own, so that transports can tell them apart
/// without importing the engine.
public enum OperationLookup: Sendable {
    /// Runs the operation to its complete response; its task is cancelled when the
    /// connection that asked has gone.
    public typealias Run = @Sendable () async -> GraphQLReply

    /// It reads.
    case query(Run)
    /// It writes.
    case mutation(Run)
    /// It follows events.
    case subscription
    /// It cannot run; the reply says why.
    case invalid(GraphQLReply)
    /// A stranger asked for what is not for everybody; the message is for the client.
    case refused(message: String)

    /// The kind of operation, where one was found.
    public var kind: OperationKind? {
        switch self {
        case .query: .query
        case .mutation: .mutation
        case .subscription: .subscription
        case .invalid, .refused: nil
        }
    }
}

/// What a transport knows of the way a subscription's responses will travel.
public struct SubscribeOptions: Sendable, Hashable {
    /// How responses and errors are written.
    public var style: ResponseStyle
    /// The cursor of the last response the client has seen, where its transport
    /// says so (`Last-Event-ID`).
    public var resumeAfter: String?

    /// Options of these parts.
    public init(style: ResponseStyle = .standard, resumeAfter: String? = nil) {
        self.style = style
        self.resumeAfter = resumeAfter
    }
}

/// What became of the wish to follow events.
public enum SubscribeOutcome: Sendable {
    /// Registered; the handle ends it.
    case stream(any StreamHandle)
    /// Not registered; a JSON array of errors.
    case refused(errors: [UInt8])
}
