/// What a document may ask of validation, and of everything behind it.
public struct ValidationLimits: Sendable, Hashable {
    /// How many errors are told before validation stops.
    public var maximumErrors: Int
    /// How deep fields may nest, fragments unfolded.
    public var maximumDepth: Int
    /// How many fields an operation may have, fragments unfolded each time they are used.
    public var maximumFields: Int

    /// Limits for one request.
    public static let standard = ValidationLimits()

    /// Limits with defaults that survive a hostile sender.
    public init(maximumErrors: Int = 100, maximumDepth: Int = 24, maximumFields: Int = 10_000) {
        self.maximumErrors = maximumErrors
        self.maximumDepth = min(maximumDepth, 200)
        self.maximumFields = maximumFields
    }
}
