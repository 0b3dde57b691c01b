/// How a client behaves; the defaults suit a server on the Internet.
public struct ClientSettings: Sendable {
    /// A PEM file with further certificate authorities to trust, for servers with a
    /// certificate of their own.
    public var certificateAuthorityFile: String?
    /// How long connecting may take.
    public var connectTimeout: Duration = .seconds(10)
    /// How long one answer may take.
    public var requestTimeout: Duration = .seconds(30)
    /// How often a request is tried in all.
    public var maximumAttempts = 5
    /// The pauses between attempts to send a request.
    public var requestPauses = Backoff(first: .milliseconds(200), longest: .seconds(10))
    /// The pauses between attempts to open a feed's connection.
    public var feedPauses = Backoff(first: .milliseconds(500), longest: .seconds(30))
    /// How long a feed's connection may take to be live.
    public var handshakeTimeout: Duration = .seconds(20)
    /// A feed's connection without any sign of the server for this long is dead.
    public var silenceTimeout: Duration = .seconds(60)
    /// How often a feed pings its server, so that silence means something.
    public var pingInterval: Duration = .seconds(20)
    /// The longest answer or message taken, in bytes.
    public var maximumAnswerBytes = 8 << 20

    /// The defaults above.
    public init() {}
}

/// Pauses that double up to a longest one, each shortened at random by up to a half, so that many
/// clients do not come back together.
public struct Backoff: Sendable, Hashable {
    /// The pause after the first failure.
    public var first: Duration
    /// The longest pause.
    public var longest: Duration

    /// Pauses from `first` to `longest`.
    public init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
    }

    /// The pause after this many failures in a row; `random` is from 0 up to 1.
    public func pause(afterFailures failures: Int, random: Double) -> Duration {
        let doublings = min(max(0, failures - 1), 20)
        let full = min(first * (1 << doublings), longest)
        return full * (1 - min(max(random, 0), 1) / 2)
    }
}
