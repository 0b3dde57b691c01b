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
    /// The answer, if there is one, and a GOAWAY.
    case goAway(WireAnswer?, GoAway)
    case reset(errorCode: UInt32)
    /// Response HEADERS, and then nothing.
    case headersOnly(status: Int)
    case silence
    /// The connection closes without an answer.
    case hangUp

    /// The same answer, but late; what is no plain answer stays as it is.
    func delayed(seconds: Double) -> WireReply {
        if case .answer(let answer) = self { .late(answer, afterSeconds: seconds) } else { self }
    }
}

/// What a fake provider remembers of one connection.
struct WireConnection: Sendable {
    var id: Int
    /// Requests so far.
    var requests = 0
    /// The last `authorization` that was found valid here.
    var authorization: String?
    /// What the first valid provider token has bound the connection to.
    var binding: Binding?
    /// Whether a valid token was seen, so that more than one stream is allowed.
    var isOpened = false
    /// Whether it is among the provider's connections in the statistics.
    var isCounted = false

    struct Binding: Sendable {
        var teamID: String
        var keyID: String
        /// The apps known when the connection was bound; later ones need a new connection.
        var bundleIDs: [String]
        /// The `iat` of the token last used here, and since when it is used.
        var issuedAt: Int64
        var sinceMilliseconds: Int64
    }
}

/// What all connections of a provider are told while they are open.
enum ConnectionOrder: Sendable {
    /// SETTINGS with another number of streams, and another pace of reading.
    case limits(SimulatorLimits.Wire)
    case goAway(GoAway)
    /// The connection is cut as a network would, without a word.
    case cut
}

/// Answers requests.
///
/// Called on the connection's event loop; must not block.
protocol WireService: Sendable {
    /// Whether a connection starts with one stream, until `WireConnection.isOpened`.
    var opensWithOneStream: Bool { get }
    var limits: SimulatorLimits.Wire { get }
    /// Whether requests bring their headers; benchmarks do without.
    var readsHeaders: Bool { get }

    func connectionOpened() -> WireConnection
    func connectionClosed(_ connection: WireConnection)
    /// Told of the streams open at once, for the peak.
    func streamsOpen(_ count: Int)
    func reply(to request: WireRequest, on connection: inout WireConnection) -> WireReply
}
