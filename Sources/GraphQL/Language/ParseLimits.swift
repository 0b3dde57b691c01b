/// What a document from outside may ask of the parser.
public struct ParseLimits: Sendable, Hashable {
    /// The longest document accepted, in bytes; never more than four thousand
    /// million, whatever this says.
    public var maximumBytes: Int {
        didSet { maximumBytes = min(maximumBytes, Self.addressableBytes) }
    }
    /// How many tokens a document may have.
    public var maximumTokens: Int
    /// How deep selection sets, lists and objects may nest; never more than
    /// 200, whatever this says.
    public var maximumDepth: Int

    /// The indices of nodes are numbers of 32 bits.
    private static let addressableBytes = 4_000_000_000

    /// Limits for one request.
    public static let standard = ParseLimits()

    /// Limits for a schema, which is written by those who run the server: large, but bounded.
    public static let unlimited = ParseLimits(maximumBytes: 50_000_000, maximumTokens: 10_000_000, maximumDepth: 200)

    /// Limits with defaults that survive a hostile sender.
    public init(maximumBytes: Int = 100_000, maximumTokens: Int = 2000, maximumDepth: Int = 24) {
        self.maximumBytes = min(maximumBytes, Self.addressableBytes)
        self.maximumTokens = maximumTokens
        self.maximumDepth = min(maximumDepth, 200)
    }
}
