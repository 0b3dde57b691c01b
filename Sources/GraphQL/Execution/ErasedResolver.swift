import JSON

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

/// The resolvers of a schema, found and checked; its identity is that of the executable schema.
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
