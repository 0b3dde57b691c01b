/// An operation made ready: fields merged, response keys as bytes, constant arguments
/// coerced, types looked up.
///
/// A plan is made once for a document and an operation name and serves any number of requests. It
/// belongs to the schema it was made for, and to the copy of it that an `ExecutableSchema` holds. A
/// class, because requests share it.
public final class ExecutionPlan: Sendable {
    /// What the operation does.
    public let operationKind: OperationKind
    /// The operation's name, if it has one.
    public let operationName: String?
    /// What each request costs, for operations that variables can make too expensive;
    /// checked before executing.
    public let variableCost: VariableCost?
    let tree: PlanTree

    private init(kind: OperationKind, name: String?, tree: PlanTree, limits: ValidationLimits) {
        operationKind = kind
        operationName = name
        self.tree = tree
        variableCost = VariableCost(tree, limits: limits)
    }

    /// The plan of one operation of a document that has been validated within these limits.
    ///
    /// Throws when there is no such operation, or the schema does not serve its kind.
    public static func make(
        document: Document,
        operationName: String? = nil,
        schema: Schema,
        limits: ValidationLimits = .standard
    ) throws(GraphQLError) -> ExecutionPlan {
        try document.tree.withRoot { (root) throws(GraphQLError) -> ExecutionPlan in
            let operation = try Self.operation(named: operationName, in: root)
            let kind = operation.flags.operationKind
            guard let rootType = schema.index.rootType(of: kind) else {
                throw GraphQLError(
                    "Schema is not configured to execute \(kind.rawValue) operation.",
                    locations: [SourceLocation(of: operation.bodyStart, in: root.bytes)]
                )
            }
            var planner = Planner(root, schema: schema)
            let tree = try planner.plan(operation, rootType: rootType)
            let name = operation.text.isEmpty ? nil : operation.name
            return ExecutionPlan(kind: kind, name: name, tree: tree, limits: limits)
        }
    }

    /// How many fields are selected at the root, as if nothing were skipped.
    public var rootFieldCount: Int { tree.selections[tree.root].fields.count }

    /// The names of the fields that are selected at the root, as if nothing were skipped.
    public var rootFieldNames: [String] { tree.selections[tree.root].fields.map(\.field.name) }

    /// Roughly how much memory the plan takes, in bytes, with all that executions may keep of it.
    public var estimatedBytes: Int {
        let fields = tree.selections.reduce(0) { $0 + $1.fields.count }
        let steps = StepCache.capacity(fields: fields, switches: tree.switches.count)
        return 1000 + tree.selections.count * 200 + fields * 400 + steps * 200
    }

    /// GraphQL §6.1 GetOperation.
    private static func operation(named name: String?, in root: NodeView) throws(GraphQLError) -> NodeView {
        let operations = root.children(.operation)
        if let name {
            guard let operation = operations.first(where: { !$0.text.isEmpty && $0.name == name }) else {
                throw GraphQLError("Unknown operation named \"\(name)\".")
            }
            return operation
        }
        guard let first = operations.first else { throw GraphQLError("Must provide an operation.") }
        guard operations.count == 1 else {
            throw GraphQLError("Must provide operation name if query contains multiple operations.")
        }
        return first
    }
}
