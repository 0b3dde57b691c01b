/// How a client behaves; the defaults suit a server on the Internet.
public struct ClientSettings: Sendable {
    /// A PEM file with further certificate authorities to trust, for servers with a
    /// certificate of their own.
    public var certificateAuthorityFile: String?
    /// The server's public keys, each as `sha256/` and the base 64 of the SHA-256 of its
    /// `SubjectPublicKeyInfo`: with any other key there is no connection.
    ///
    /// Give two or more, so that the server can change its key: the next one waits in a safe.
    /// A certificate must still be good in all other ways. Empty means that any key will do.
    public var pinnedKeys: [String] = []
    /// Whether `http://` is taken for other machines than this one: token and messages can then
    /// be read on the way.
    public var allowsPlainText = false
    /// How long connecting may take.
    public var connectTimeout: Duration = .seconds(10)
    /// How long one answer may take.
    public var requestTimeout: Duration = .seconds(30)
    /// How often a request is tried in all.
    public var maximumAttempts = 5
    /// The pauses between attempts to send a request.
    public var requestPauses = Backoff(first: .milliseconds(200), longest: .seconds(10))
    /// The pauses between attempts to open the feeds' connection.
    public var feedPauses = Backoff(first: .seconds(1), longest: .seconds(30))
    /// After a server's stop feeds come back at random within this time, unless the server
    /// names another.
    public var stopSpread: Duration = .seconds(5)
    /// A server that has too much to do is given a random part of this time on top of
    /// what it asks for.
    public var overloadSpread: Duration = .seconds(5)
    /// The pauses between attempts to get a token from the provider.
    public var credentialPauses = Backoff(first: .seconds(1), longest: .seconds(60))
    /// How long the provider of tokens may take.
    public var credentialTimeout: Duration = .seconds(30)
    /// How long the feeds' connection may take to be live.
    public var handshakeTimeout: Duration = .seconds(20)
    /// A feeds' connection without any sign of the server for this long is dead.
    public var silenceTimeout: Duration = .seconds(60)
    /// How often the feeds' connection pings its server, so that silence means something.
    public var pingInterval: Duration = .seconds(20)
    /// The longest answer or message taken, in bytes.
    public var maximumAnswerBytes = 8 << 20

    /// Is told what the client does by itself, for whoever looks for a fault.
    ///
    /// It must return at once.
    public var log: (@Sendable (ClientEvent) -> Void)?

    /// What the client calls itself in `User-Agent`.
    package var userAgent = ClientVersion.userAgent
    /// Where time and chance come from.
    package var environment = ClientEnvironment.system

    /// The defaults above.
    public init() {}
}

/// Random pauses from zero up to a bound that doubles, so that many clients do not come back
/// together ("full jitter").
public struct Backoff: Sendable, Hashable {
    /// Half the longest pause after the first failure.
    public var first: Duration
    /// The longest pause.
    public var longest: Duration

    /// Pauses that begin with `first` on average and are never longer than `longest`.
    public init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
    }

    /// The pause after this many failures in a row, a part of `first` × 2ⁿ or of `longest`;
    /// `random` is from 0 up to 1.
    public func pause(afterFailures failures: Int, random: Double) -> Duration {
        let doublings = min(max(0, failures), 20)
        return min(first * (1 << doublings), longest) * min(max(random, 0), 1)
    }
}
