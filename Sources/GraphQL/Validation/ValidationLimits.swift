/// What a document may ask of validation, and of everything behind it.
///
/// None of these stands in the specification.
public struct ValidationLimits: Sendable, Hashable {
    /// How many errors are told before validation stops.
    public var maximumErrors: Int
    /// How deep fields may nest, fragments unfolded; never more than 200, whatever this says.
    public var maximumDepth: Int
    /// How deep fields of the introspection system may nest, fragments unfolded.
    public var maximumIntrospectionDepth = 16
    /// How many fields an operation may have, fragments unfolded each time they are used.
    public var maximumFields: Int
    /// How many aliases a document may have.
    public var maximumAliases = 30
    /// How many fields an operation may have at its root, fragments unfolded.
    public var maximumRootFields = 20
    /// How many directives a document may apply.
    public var maximumDirectives = 20
    /// How many fragments a document may define.
    public var maximumFragments = 50
    /// How many operations a document may define.
    public var maximumOperations = 10
    /// How deep lists of the introspection system may nest, the list of all types counted.
    public var maximumIntrospectionLists = 3
    /// The highest cost of an operation: its fields, each times the sizes
    /// of the pages it stands in.
    ///
    /// A page's size is the argument `limit`, `first` or `last` of the list itself or of the object
    /// that holds it. A size that is a variable counts as one row, until `VariableCost` counts the
    /// request's own.
    public var maximumCost = 50_000
    /// The size of a page that names none.
    public var defaultPageSize = 100
    /// The largest page the application serves; one that asks for more costs no more.
    public var maximumPageSize = 1000

    /// Limits for one request.
    public static let standard = ValidationLimits()

    /// Nearly the specification alone: beyond it only what keeps the process alive is refused, and
    /// introspection whose lists nest too deep, as by the reference.
    public static let specification = {
        var limits = ValidationLimits(maximumDepth: 200, maximumFields: 100_000)
        limits.maximumIntrospectionDepth = 200
        limits.maximumAliases = .max
        limits.maximumRootFields = .max
        limits.maximumDirectives = .max
        limits.maximumFragments = .max
        limits.maximumOperations = .max
        limits.maximumCost = .max
        return limits
    }()

    /// Limits with defaults that survive a hostile sender; further ones are set by name.
    public init(maximumErrors: Int = 100, maximumDepth: Int = 24, maximumFields: Int = 10_000) {
        self.maximumErrors = maximumErrors
        self.maximumDepth = min(maximumDepth, 200)
        self.maximumFields = maximumFields
    }
}
