/// Carries one provider request to its answer.
///
/// Never throws: every way to fail is a `PushAnswer`.
package protocol PushTransport: Sendable {
    /// Sends the requests, many streams at once within the peer's limit.
    ///
    /// Calls `completed` with each request's index in the batch, exactly once, in any order and
    /// from any thread.
    ///
    /// Returns when every request has been answered.
    func send(
        _ batch: PushBatch,
        completed: @escaping @Sendable (_ index: Int, _ answer: PushAnswer) -> Void
    ) async

    /// Closes the connections of one pool, because its credentials or bundle list changed or
    /// the provider asked for it.
    func close(_ pool: PushPool) async
}

/// One connection pool: requests of one credential to one origin share kept connections.
package struct PushPool: Hashable, Sendable {
    /// `https://host:port` (or `http://` with prior knowledge, in tests).
    package var origin: String
    /// What the peer binds a connection to, for example `TEAMID/KEYID`; a new
    /// generation opens new connections.
    package var credential: String
    /// Raised when connections must be opened anew, because a token or key has changed.
    package var generation: Int
    /// APNs with token authentication allows one stream until the first request has been accepted.
    package var opensWithOneStream: Bool
    /// Whether the origin was named by a client, so that it must not lead into
    /// this machine's own network.
    package var refusesPrivateAddresses: Bool
    /// Connections of its own beside the usual ones, for what failed there.
    package var isSpare: Bool
    /// Whose connections they are; nil: nobody counts them.
    package var service: PushService?

    /// A pool; by default of usual connections that may open many streams at once.
    package init(
        origin: String,
        credential: String,
        generation: Int = 0,
        opensWithOneStream: Bool = false,
        refusesPrivateAddresses: Bool = false,
        isSpare: Bool = false,
        service: PushService? = nil
    ) {
        self.service = service
        self.origin = origin
        self.credential = credential
        self.generation = generation
        self.opensWithOneStream = opensWithOneStream
        self.refusesPrivateAddresses = refusesPrivateAddresses
        self.isSpare = isSpare
    }
}

/// A header as it goes on the wire: lowercase name, value bytes as text.
package struct PushHeader: Sendable, Hashable {
    /// The field's name in lower case.
    package var name: String
    /// The field's value.
    package var value: String
    /// Whether the value repeats from request to request, so that HPACK may index it.
    package var repeats: Bool

    /// A field; by default one that HPACK does not index.
    package init(_ name: String, _ value: String, repeats: Bool = false) {
        self.name = name
        self.value = value
        self.repeats = repeats
    }
}

/// Requests that share a method (POST), a pool and most headers: one message for many devices.
package struct PushBatch: Sendable {
    /// One request of a batch.
    package struct Request: Sendable {
        /// `:path`, for example `/3/device/<token>`.
        package var path: String
        /// Headers of this request alone, for example `apns-id`.
        package var headers: [PushHeader]
        /// The body; an array is shared, not copied, between requests with the same payload.
        package var body: [UInt8]

        /// A request with what it does not share.
        package init(path: String, headers: [PushHeader], body: [UInt8]) {
            self.path = path
            self.headers = headers
            self.body = body
        }
    }

    /// The connections that carry it.
    package var pool: PushPool
    /// Headers all requests share, built once.
    package var sharedHeaders: [PushHeader]
    /// The requests, answered by their index.
    package var requests: [Request]
    /// Each request is given up this long after it was handed over.
    package var timeoutSeconds: Double

    /// A batch that is handed over as a whole.
    package init(pool: PushPool, sharedHeaders: [PushHeader], requests: [Request], timeoutSeconds: Double = 20) {
        self.pool = pool
        self.sharedHeaders = sharedHeaders
        self.requests = requests
        self.timeoutSeconds = timeoutSeconds
    }
}

/// What became of one request.
package enum PushAnswer: Sendable, Hashable {
    /// The provider answered.
    case response(PushResponse)
    /// The peer did not process it (REFUSED_STREAM, or above a GOAWAY's last stream): safe to send
    /// again at once elsewhere.
    case notProcessed(reason: String)
    /// The stream or connection broke, or time ran out, after the request had left:
    /// it may have been accepted.
    case unknown(reason: String)
    /// No connection could be made (DNS, refused, TLS): nothing has left.
    case unreachable(reason: String)
}

/// A provider's answer.
package struct PushResponse: Sendable, Hashable {
    /// The HTTP status.
    package var status: Int
    /// Lowercase names; only those a sender needs (`apns-id`, `apns-unique-id`, `retry-after`,
    /// `date`, `content-type`, `location`).
    package var headers: [PushHeader]
    /// At most 16 KiB.
    package var body: [UInt8]

    /// An answer that was read to its end.
    package init(status: Int, headers: [PushHeader], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
