/// Where the responses of one subscription go.
///
/// Called from any thread, by one caller at a time for one subscription; never blocks and never fails: a peer that
/// does not read is cut off by the transport, which then cancels the stream.
public protocol ResponseSink: AnyObject, Sendable {
    /// Hands over the next response.
    func next(_ response: SharedResponse)
    /// Says that no response follows; called once at most.
    func end(_ reason: StreamEnd)
    /// Waits until everything handed over so far is on its way to the peer, or nobody wants more.
    ///
    /// For replays: a service that has many stored responses hands over a few hundred kilobytes, waits, and goes on.
    /// Live responses do not wait. Returns at once when the calling task is cancelled.
    func room() async
    /// Who reaches this sink together with others; `nil` when nobody does. It never changes.
    var courier: (any ResponseCourier)? { get }
}

extension ResponseSink {
    /// Returns at once: a sink without a queue always has room.
    public func room() async {}
    /// Nobody: responses are handed over one by one.
    public var courier: (any ResponseCourier)? { nil }
}

/// Carries responses to many sinks at once, so that a response to thousands costs one hop to their thread and not thousands.
public protocol ResponseCourier: AnyObject, Sendable {
    /// Hands the responses in their order to each of these sinks of its own.
    ///
    /// What one sink gets keeps its order, whichever way it was handed over.
    func deliver(_ responses: [SharedResponse], to sinks: [any ResponseSink])
    /// Whether responses for these sinks would soon be on their way; if not, it calls `wake` once when they would.
    ///
    /// A service that waits for room gives later responses together, which costs less.
    func hasRoom(for sinks: [any ResponseSink], orCall wake: @escaping @Sendable () -> Void) -> Bool
}

/// One response of a subscription, shared by all subscribers that get the same bytes.
public struct SharedResponse: Sendable, Hashable {
    /// The complete response object in JSON; not copied until it is framed for a socket.
    public let body: [UInt8]
    /// Where in its stream this response stands, for carriers that can name it; `nil` when the stream has no places.
    public let cursor: String?

    /// Joins a body and its place.
    public init(body: [UInt8], cursor: String? = nil) {
        self.body = body
        self.cursor = cursor
    }
}

/// Why a stream of responses ends by itself.
public enum StreamEnd: Sendable, Hashable {
    /// There is nothing more to come.
    case completed
    /// It cannot go on; a JSON array of errors.
    case failed(errors: [UInt8])
    /// The caller's token has expired or was revoked; the connection is closed.
    case unauthorized
    /// The server stops; the connection is closed.
    case shuttingDown
}

/// Ends a running subscription.
public protocol StreamHandle: Sendable {
    /// Stops the stream; its sink is told nothing more. Doing it twice does no harm.
    func cancel()
}
