/// What one socket or event stream may ask of us, whatever protocol it speaks.
public struct SocketSessionLimits: Sendable, Hashable {
    /// How long a client may take to introduce itself.
    public var initialisationMilliseconds: Int
    /// How many operations may run at once.
    public var maximumOperations: Int
    /// The longest id of an operation, in bytes.
    public var maximumIDBytes: Int
    /// Limits of each request.
    public var request: GraphQLRequestLimits
    /// A sign of life goes out this often, where the protocol has its own: AppSync's `ka`.
    public var keepAliveMilliseconds = 60_000
    /// What AppSync's clients are told: after this long without a sign of life they come again.
    public var connectionTimeoutMilliseconds = 300_000
    /// An event stream without events gets a comment this often, so that nothing
    /// between takes it for dead.
    public var commentMilliseconds = 15_000
    /// A client of AppSync's protocol that was refused may read why for this
    /// long before it is closed.
    public var farewellMilliseconds = 2_000

    /// Limits with their defaults.
    public init(
        initialisationMilliseconds: Int = 10_000,
        maximumOperations: Int = 100,
        maximumIDBytes: Int = 256,
        request: GraphQLRequestLimits = GraphQLRequestLimits()
    ) {
        self.initialisationMilliseconds = initialisationMilliseconds
        self.maximumOperations = maximumOperations
        self.maximumIDBytes = maximumIDBytes
        self.request = request
    }
}
