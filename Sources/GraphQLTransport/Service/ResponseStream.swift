/// Where the responses of one subscription go.
///
/// It is called from any thread, by one caller at a time for one subscription. It never blocks and
/// never fails: the transport cuts off a peer that does not read, and then cancels the stream.
public protocol ResponseSink: AnyObject, Sendable {
    /// Hands over the next response.
    func next(_ response: SharedResponse)
    /// Says that no response follows; called once at most.
    func end(_ reason: StreamEnd)
    /// Says that what was stored before the subscription began has been handed over, if anything
    /// was.
    func caughtUp()
    /// Runs `body`, which hands over stored responses, when it is this sink's turn on its
    /// connection.
    ///
    /// Answers what `body` answers, or false without running it when nobody wants more.
    ///
    /// Turns are given one at a time, in the order in which they were asked for. So one page of
    /// stored responses is in memory for a connection, however many replays it has. A turn within a
    /// turn would wait for ever.
    func turn(_ body: () async -> Bool) async -> Bool
    /// Waits, in a turn, until this stored response may be handed over next, or nobody wants more.
    ///
    /// What was let in so never counts as too much; live responses do not wait and do. Returns at
    /// once when the calling task is cancelled.
    func room(for response: SharedResponse) async
    /// Waits, in a turn, until the system has taken all that was handed over in
    /// turns, or nobody wants more.
    ///
    /// A service that waits so before it reads on keeps nothing more for a peer that does
    /// not read. It does not return earlier when the calling task is cancelled: what was
    /// handed over is there still.
    func allTaken() async
    /// Who reaches this sink together with others; `nil` when nobody does. It never changes.
    var sender: (any ResponseSender)? { get }
}

extension ResponseSink {
    /// Tells nobody.
    public func caughtUp() {}
    /// Runs it at once: a sink without a queue has nobody to wait for.
    public func turn(_ body: () async -> Bool) async -> Bool { await body() }
    /// Returns at once: a sink without a queue always has room.
    public func room(for response: SharedResponse) async {}
    /// Returns at once: a sink without a queue keeps nothing.
    public func allTaken() async {}
    /// Nobody: responses are handed over one by one.
    public var sender: (any ResponseSender)? { nil }
}

/// Carries responses to many sinks at once, so that a response to thousands costs one hop to their
/// thread and not thousands.
public protocol ResponseSender: AnyObject, Sendable {
    /// Hands the responses in their order to each of these sinks of its own, and tells `watch` when
    /// the last of them has been written to.
    ///
    /// What one sink gets keeps its order, whichever way it was handed over.
    func send(_ responses: [SharedResponse], to sinks: [any ResponseSink], _ watch: (any WriteWatch)?)
    /// Whether responses for these sinks would soon be on their way; if not, it calls
    /// `wake` once when they would.
    ///
    /// A service that waits for room gives later responses together, which costs less.
    func hasRoom(for sinks: [any ResponseSink], orCall wake: @escaping @Sendable () -> Void) -> Bool
}

/// Is told when responses have been written.
public protocol WriteWatch: AnyObject, Sendable {
    /// They have been given to the system, or wait behind what their reader has not taken.
    func written()
}

/// One response of a subscription, shared by all subscribers that get the same bytes.
public struct SharedResponse: Sendable, Hashable {
    /// The complete response object in JSON; not copied until it is framed for a socket.
    public let body: [UInt8]
    /// Where in its stream this response stands, for carriers that can name it; `nil` when the
    /// stream has no cursors.
    public let cursor: String?

    /// Joins a body and its cursor.
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
    /// The caller's rights have changed; the connection is closed, and may be opened again.
    case rightsChanged
    /// The server stops; the connection is closed.
    case shuttingDown
}

/// Ends a running subscription.
public protocol StreamHandle: Sendable {
    /// Stops the stream; its sink is told nothing more. Doing it twice does no harm.
    func cancel()
}
