/// What a resolver is told about the field it resolves.
public struct FieldInvocation<Context: Sendable>: Sendable {
    @usableFromInline let call: FieldCall
    /// The request's own value.
    public let context: Context

    @inlinable
    init(_ call: FieldCall) {
        self.call = call
        context = unsafeDowncast(call.context, to: ContextBox<Context>.self).context
    }

    /// The name of the object type the field belongs to.
    public var parentType: String { call.parentType.name }
    /// The field's name in the schema.
    public var fieldName: String { call.field.field.name }
    /// The field's name in the response.
    public var responseKey: String { call.field.responseKey }
    /// The field's coerced arguments.
    public var arguments: Arguments { call.arguments }
    /// What is selected below the field.
    public var selection: SelectedFields { call.request.selection(of: call.field) }
    /// What the operation does.
    public var operationKind: OperationKind { call.operationKind }
}

/// A field about to be resolved.
@usableFromInline
final class FieldCall: Sendable {
    let field: PlannedField
    let request: PreparedRequest
    let parentType: Schema.NamedType
    let arguments: Arguments
    let operationKind: OperationKind
    @usableFromInline let context: any Shared
    /// What names the types of the field's values, if its type is abstract.
    @usableFromInline let naming: (any Shared)?

    /// Throws when the arguments cannot be coerced.
    init(_ step: borrowing Step, in resolver: LevelResolver) throws(GraphQLError) {
        let request = resolver.request
        field = step.field
        self.request = request
        parentType = step.parentType
        arguments = try request.arguments(of: step.field)
        operationKind = resolver.operationKind
        context = resolver.context
        naming = step.naming
    }

    /// The selection of the field's objects, if they are all of one type; below zero otherwise.
    @usableFromInline var selection: Int {
        if case .object(let number) = field.kind { number } else { -1 }
    }

    /// The selection of objects of a possible type.
    @usableFromInline
    func selection(ofType name: String) throws(GraphQLError) -> Int {
        guard case .abstract(let type, let selections) = field.kind else {
            throw objectForLeaf
        }
        if let selection = selections[name] { return selection }
        guard let found = request.tree.schema.type(named: name) else {
            throw GraphQLError(
                "Abstract type \"\(type.name)\" was resolved to a type \"\(name)\" that does not exist inside the schema."
            )
        }
        guard found.kind == .object else {
            throw GraphQLError("Abstract type \"\(type.name)\" was resolved to a non-object type \"\(name)\".")
        }
        throw GraphQLError("Runtime Object type \"\(name)\" is not a possible type for \"\(type.name)\".")
    }

    /// The error of a resolver that gave an object where the schema has a leaf.
    @usableFromInline var objectForLeaf: GraphQLError {
        GraphQLError("The resolver of \(field.field.coordinate) gave an object for a leaf.")
    }

    /// The error of a resolver that gave more or fewer values than it had parents.
    @usableFromInline
    func wrongCount(_ values: Int, parents: Int) -> GraphQLError {
        GraphQLError("The resolver of \(field.field.coordinate) gave \(values) values for \(parents) parents.")
    }
}
