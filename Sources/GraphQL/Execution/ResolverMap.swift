public import JSON

/// Resolvers by schema coordinate (`Type.field`).
///
/// A resolver registered for a field of an interface serves all object types that implement it and have none of their
/// own.
public struct ResolverMap<Object: Sendable, Context: Sendable>: Sendable {
    /// Writes a leaf of one parent: a plain call, without arguments, on the hot path.
    public typealias Leaf = @Sendable (_ parent: Object, _ out: inout LeafWriter) -> Void
    /// Gives the value of one parent, without waiting for anything.
    public typealias Single =
        @Sendable (_ parent: Object, _ field: FieldInvocation<Context>) throws(GraphQLError) -> ResolvedValue<Object>
    /// Gives the values of all parents of a level at once, one for each, in their order.
    public typealias Batch =
        @Sendable (_ parents: [Object], _ field: FieldInvocation<Context>) async throws(GraphQLError) ->
        [ResolvedValue<Object>]

    /// How one field is resolved.
    enum Resolver: Sendable {
        case leaf(ErasedLeaf)
        case value(Single)
        case batch(Batch)
    }

    private(set) var resolvers: [String: Resolver] = [:]
    private(set) var abstractTypes: [String: @Sendable (Object) -> String] = [:]
    private(set) var serializations: [String: ScalarCoercion] = [:]
    private(set) var coercions: [String: ScalarCoercion] = [:]
    /// Serves the fields that have no resolver of their own.
    public var defaultResolver: Single?
    /// Names the object type of values of abstract types that have no function of their own.
    public var defaultTypeName: (@Sendable (Object) -> String)?

    /// A map without resolvers.
    public init() {}

    /// Registers a leaf without arguments; it is written straight into the response.
    ///
    /// Inlinable, so that it is specialised for the application's own type: twenty rows of six leaves took 55 µs
    /// before.
    @inlinable
    public mutating func leaf(_ coordinate: String, _ write: @escaping Leaf) {
        register(coordinate) { column, row, out in
            write(unsafeDowncast(column, to: ParentColumn<Object>.self).parents[row], &out)
        }
    }

    @usableFromInline
    mutating func register(_ coordinate: String, _ write: @escaping ErasedLeaf) {
        resolvers[coordinate] = .leaf(write)
    }

    /// Registers a field that is resolved parent by parent.
    public mutating func value(_ coordinate: String, _ resolve: @escaping Single) {
        resolvers[coordinate] = .value(resolve)
    }

    /// Registers a field that is resolved once for all parents of a level; at the root the parents are the root alone.
    public mutating func batch(_ coordinate: String, _ resolve: @escaping Batch) {
        resolvers[coordinate] = .batch(resolve)
    }

    /// Registers how the object type of an interface's or union's values is found.
    public mutating func abstractType(_ typeName: String, _ name: @escaping @Sendable (Object) -> String) {
        abstractTypes[typeName] = name
    }

    /// Registers how a custom scalar's values are checked or converted on their way out.
    public mutating func serialize(
        scalar: String,
        _ convert: @escaping @Sendable (JSONValue) throws(CoercionError) -> JSONValue
    ) {
        serializations[scalar] = convert
    }

    /// Registers how a custom scalar's values are checked or converted on their way in, from variables and documents.
    public mutating func coerce(
        scalar: String,
        _ check: @escaping @Sendable (JSONValue) throws(CoercionError) -> JSONValue
    ) {
        coercions[scalar] = check
    }
}
