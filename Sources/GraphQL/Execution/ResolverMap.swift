public import JSON

/// Resolvers by schema coordinate (`Type.field`).
///
/// A resolver registered for a field of an interface serves all object types that implement it and
/// have none of their own. Registration is inlinable, so that what handles objects is compiled for
/// the application's own type.
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
    /// Gives the value of a field of a root.
    public typealias Root =
        @Sendable (_ field: FieldInvocation<Context>) async throws(GraphQLError) -> ResolvedValue<Object>
    /// Finds the events of a subscription, each the value of its root field.
    public typealias Source =
        @Sendable (_ root: Object, _ field: FieldInvocation<Context>) async throws(GraphQLError) ->
        SourceStream<Object>

    @usableFromInline var erased = ErasedResolvers()
    @usableFromInline var single: Single?
    @usableFromInline var typeName: (@Sendable (Object) -> String)?

    /// Serves the fields that have no resolver of their own.
    @inlinable public var defaultResolver: Single? {
        get { single }
        set {
            single = newValue
            erased.defaultResolver = newValue.map { .value(Self.erase($0)) }
        }
    }
    /// Names the object type of values of abstract types that have no function of their own.
    @inlinable public var defaultTypeName: (@Sendable (Object) -> String)? {
        get { typeName }
        set {
            typeName = newValue
            erased.defaultNaming = newValue.map { TypeNaming($0) }
        }
    }

    /// A map without resolvers.
    public init() {}

    /// Registers a leaf without arguments; it is written straight into the response.
    @inlinable
    public mutating func leaf(_ coordinate: String, _ write: @escaping Leaf) {
        erased.resolvers[coordinate] = .leaf { row, out in
            Row<Object>.write(row.assumingMemoryBound(to: Row<Object>.self).pointee, write, &out)
        }
    }

    /// Registers a field that is resolved parent by parent.
    @inlinable
    public mutating func value(_ coordinate: String, _ resolve: @escaping Single) {
        erased.resolvers[coordinate] = .value(Self.erase(resolve))
    }

    /// Registers a field that is resolved once for all parents of a level; at the root the
    /// parents are the root alone.
    ///
    /// Root fields of a query that are registered so run at the same time.
    @inlinable
    public mutating func batch(_ coordinate: String, _ resolve: @escaping Batch) {
        erased.resolvers[coordinate] = .batch { (parents, call) async throws(GraphQLError) in
            let parents = unsafeDowncast(parents, to: ObjectColumn<Object>.self).objects
            let values = try await resolve(parents, FieldInvocation(call))
            guard values.count == parents.count else { throw call.wrongCount(values.count, parents: parents.count) }
            return ResolvedColumn(values)
        }
    }

    /// Registers a field of a root, which is its only parent; as `batch`, at less cost.
    @inlinable
    public mutating func root(_ coordinate: String, _ resolve: @escaping Root) {
        erased.resolvers[coordinate] = .batch { (parents, call) async throws(GraphQLError) in
            let value = try await resolve(FieldInvocation(call))
            let count = unsafeDowncast(parents, to: ObjectColumn<Object>.self).objects.count
            guard count == 1 else { throw call.wrongCount(1, parents: count) }
            guard case .object(let object) = value, call.naming == nil else { return ResolvedColumn([value]) }
            return .object(ObjectColumn([object]))
        }
    }

    /// Registers how the events of a subscription are found (GraphQL §6.2.3.1).
    @inlinable
    public mutating func source(_ coordinate: String, _ find: @escaping Source) {
        let erasedFind: ErasedSource = { (root, call) async throws(GraphQLError) in
            let roots = unsafeDowncast(root, to: ObjectColumn<Object>.self).objects
            let stream = try await find(roots[0], FieldInvocation<Context>(call))
            return ErasedStream(stream)
        }
        erased.sources[coordinate] = erasedFind
    }

    /// Registers how the object type of an interface's or union's values is found.
    @inlinable
    public mutating func abstractType(_ typeName: String, _ name: @escaping @Sendable (Object) -> String) {
        erased.namings[typeName] = TypeNaming(name)
    }

    /// Registers how a custom scalar's values are checked or converted on their way out.
    public mutating func serialize(
        scalar: String,
        _ convert: @escaping @Sendable (JSONValue) throws(CoercionError) -> JSONValue
    ) {
        erased.serializations[scalar] = convert
    }

    /// Registers how a custom scalar's values are checked or converted on their way in, from
    /// variables and documents.
    public mutating func coerce(
        scalar: String,
        _ check: @escaping @Sendable (JSONValue) throws(CoercionError) -> JSONValue
    ) {
        erased.coercions[scalar] = check
    }

    @inlinable
    static func erase(_ resolve: @escaping Single) -> ErasedSingle {
        { parents, call, state in
            let invocation = FieldInvocation<Context>(call)
            var values: [ResolvedValue<Object>] = []
            let parents = unsafeDowncast(parents, to: ObjectColumn<Object>.self).objects
            values.reserveCapacity(parents.count)
            for parent in parents {
                do throws(GraphQLError) {
                    values.append(try resolve(parent, invocation))
                } catch {
                    values.append(.failure(error))
                }
            }
            state.store(values, of: call)
        }
    }
}

/// What a resolver gives for one parent.
public enum ResolvedValue<Object: Sendable>: Sendable {
    /// Nothing.
    case null
    /// The value of a leaf, or of lists of leaves.
    case leaf(JSONValue)
    /// An object whose fields are resolved next.
    case object(Object)
    /// Objects in order, taken as they are: a list of many without a look at each.
    case objects([Object])
    /// Values in order.
    case list([ResolvedValue<Object>])
    /// An error in this one's place; the engine adds locations and path.
    indirect case failure(GraphQLError)
}

/// How one field is resolved, with the types of objects and context forgotten.
@usableFromInline
enum ErasedResolver: Sendable {
    case leaf(ErasedLeaf)
    case value(ErasedSingle)
    case batch(ErasedBatch)
}

/// Writes a leaf of the object in a row.
@usableFromInline
typealias ErasedLeaf = @Sendable (_ row: UnsafeRawPointer, _ out: inout LeafWriter) -> Void

/// Resolves a field parent by parent, and puts what it got into its cells.
@usableFromInline
typealias ErasedSingle =
    @Sendable (_ parents: any RowOwner, _ call: FieldCall, _ state: inout ExecutionState) -> Void

/// Resolves a field once for all parents.
@usableFromInline
typealias ErasedBatch =
    @Sendable (_ parents: any RowOwner, _ call: FieldCall) async throws(GraphQLError) -> ResolvedColumn

/// Finds the events of a subscription.
@usableFromInline
typealias ErasedSource = @Sendable (_ root: any RowOwner, _ call: FieldCall) async throws(GraphQLError) -> ErasedStream

/// The events of a subscription.
@usableFromInline
struct ErasedStream: Sendable {
    /// A `SourceStream`.
    @usableFromInline let box: any Shared

    @usableFromInline
    init(_ box: any Shared) {
        self.box = box
    }
}

/// What a field resolved once for all parents gave.
@usableFromInline
enum ResolvedColumn: Sendable {
    /// One object of a type that is known, for the one parent.
    case object(any RowOwner)
    /// What `store` puts into the cells.
    case values(
        any Shared,
        store: @Sendable (_ values: any Shared, _ call: FieldCall, _ state: inout ExecutionState) -> Void
    )

    @inlinable
    init<Object: Sendable>(_ values: [ResolvedValue<Object>]) {
        self = .values(ValueColumn(values)) { values, call, state in
            state.store(unsafeDowncast(values, to: ValueColumn<Object>.self).take(), of: call)
        }
    }
}

/// All that an application has registered.
@usableFromInline
struct ErasedResolvers: Sendable {
    @usableFromInline var resolvers: [String: ErasedResolver] = [:]
    @usableFromInline var sources: [String: ErasedSource] = [:]
    @usableFromInline var namings: [String: any Shared] = [:]
    @usableFromInline var defaultResolver: ErasedResolver?
    @usableFromInline var defaultNaming: (any Shared)?
    var serializations: [String: ScalarCoercion] = [:]
    var coercions: [String: ScalarCoercion] = [:]

    @usableFromInline
    init() {}
}

/// The resolvers of one executable schema, found and checked.
///
/// A class, because plans are kept by the object that they were made for.
final class Bindings: Sendable {
    /// By the field's number.
    let resolvers: [ErasedResolver?]
    let erased: ErasedResolvers

    init(resolvers: [ErasedResolver?], erased: ErasedResolvers) {
        self.resolvers = resolvers
        self.erased = erased
    }

    /// What names the object types of an abstract type's values.
    func naming(of type: Schema.NamedType) -> (any Shared)? {
        erased.namings[type.name] ?? erased.defaultNaming
    }
}
