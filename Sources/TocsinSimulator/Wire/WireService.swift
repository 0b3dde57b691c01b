/// A request read to its end, from HTTP/1.1 or HTTP/2.
struct WireRequest: Sendable {
    var method = ""
    var path = ""
    /// Lowercase names, in order, duplicates kept; without pseudo-headers.
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// Bytes the peer sent; more than `body` holds when it went over the limit.
    var bodyBytes = 0

    func values(_ name: String) -> [String] {
        headers.filter { $0.name == name }.map(\.value)
    }

    func value(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}

/// What a fake provider answers.
struct WireAnswer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
}

/// What happens to a request's stream: an answer, or one of the faults real providers show.
enum WireReply: Sendable {
    case answer(WireAnswer)
    case late(WireAnswer, afterSeconds: Double)
    /// The answer, then a GOAWAY whose last stream is this one.
    case lastAnswer(WireAnswer, reason: String)
    /// A GOAWAY whose last stream is the one before: this one was not processed.
    case refusedByGoAway(reason: String)
    case reset(errorCode: UInt32)
    /// Response HEADERS, and then nothing.
    case headersOnly(status: Int)
    case silence
    /// The connection closes without an answer.
    case hangUp
}

/// What a fake provider remembers of one connection.
struct WireConnection: Sendable {
    var id: Int
    /// The provider token last used here, and since when (milliseconds).
    var providerToken: String?
    var providerTokenSince: Int64 = 0
    /// Whether a valid token was seen, so that more than one stream is allowed.
    var isOpened = false
    /// Whether it is among the provider's connections in the statistics.
    var isCounted = false
}

/// Answers requests.
///
/// Called on the connection's event loop; must not block.
protocol WireService: Sendable {
    /// Whether a connection starts with one stream, until `WireConnection.isOpened`.
    var opensWithOneStream: Bool { get }
    var maximumStreams: Int { get }
    /// Whether requests bring their headers; benchmarks do without.
    var readsHeaders: Bool { get }

    func connectionOpened() -> WireConnection
    func connectionClosed(_ connection: WireConnection)
    /// Told of the streams open at once, for the peak.
    func streamsOpen(_ count: Int)
    func reply(to request: WireRequest, on connection: inout WireConnection) -> WireReply
}
