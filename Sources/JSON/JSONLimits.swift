/// What a JSON text from outside may ask of us.
public struct JSONLimits: Sendable, Hashable {
    /// The longest text accepted, in bytes.
    public var maximumBytes: Int
    /// How many arrays and objects may be open at once; never more than 256
    /// are, whatever this says.
    public var maximumDepth: Int
    /// How many values, inner ones counted, one text may hold.
    public var maximumValues: Int
    /// The longest number accepted, in characters.
    public var maximumNumberLength: Int

    /// The limits for one request.
    public static let standard = JSONLimits()

    /// Limits with defaults that survive a hostile sender.
    public init(
        maximumBytes: Int = 1_048_576,
        maximumDepth: Int = 32,
        maximumValues: Int = 100_000,
        maximumNumberLength: Int = 64
    ) {
        self.maximumBytes = maximumBytes
        self.maximumDepth = min(maximumDepth, 256)
        self.maximumValues = maximumValues
        self.maximumNumberLength = maximumNumberLength
    }
}
