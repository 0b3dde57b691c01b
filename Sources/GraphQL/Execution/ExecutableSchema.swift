public import JSON

/// A schema and the resolvers of all its fields, checked against each other at start.
public struct ExecutableSchema<Object: Sendable, Context: Sendable>: Sendable {
    /// The schema to validate and plan against; it knows how custom scalars check what clients send.
    public var schema: Schema { core.schema }
    @usableFromInline let core: ExecutionCore

    /// Joins a schema and resolvers.
    ///
    /// Throws every coordinate that lacks a resolver or has one that does not fit.
    public init(schema: Schema, resolvers map: ResolverMap<Object, Context>) throws(SchemaBindingErrors) {
        var binding = ResolverBinding(schema: schema, map: map.erased)
        binding.bind()
        guard binding.problems.isEmpty else { throw SchemaBindingErrors(problems: binding.problems) }
        core = ExecutionCore(
            schema: schema.coercing(map.erased.coercions),
            bindings: Bindings(resolvers: binding.resolvers, erased: map.erased)
        )
    }
}

/// Why schema and resolvers do not fit together: every reason, by coordinate.
public struct SchemaBindingErrors: Error, Sendable, CustomStringConvertible {
    /// One sentence for each coordinate that is wrong.
    public let problems: [String]

    /// One line for each problem.
    public var description: String { problems.joined(separator: "\n") }
}

extension ExecutableSchema {
    /// Answers a query or mutation (GraphQL §6.2).
    ///
    /// Stays on the caller's executor, but for the root fields of a query that wait for something at the same time. A
    /// task that is cancelled stops between two levels.
    @inlinable
    public func execute(
        _ plan: ExecutionPlan,
        variables: JSONObject = [:],
        root: Object,
        context: Context,
        options: ExecutionOptions = ExecutionOptions()
    ) async -> ExecutionResult {
        await execute(plan, variables: variables, root: ExecutionRoot(root), context: context, options: options)
    }

    /// The same with a root made once for all requests.
    @inlinable
    public func execute(
        _ plan: ExecutionPlan,
        variables: JSONObject = [:],
        root: ExecutionRoot<Object>,
        context: Context,
        options: ExecutionOptions = ExecutionOptions()
    ) async -> ExecutionResult {
        await core.execute(
            plan,
            variables,
            .operation,
            root: root.owner,
            context: ContextBox(context),
            options: options
        )
    }

    /// Answers one event of a subscription (GraphQL §6.2.3.2).
    ///
    /// The event is the value of the root field, or its parent where that field has a resolver of its own.
    @inlinable
    public func executeEvent(
        _ plan: ExecutionPlan,
        variables: JSONObject = [:],
        event: Object,
        context: Context,
        options: ExecutionOptions = ExecutionOptions()
    ) async -> ExecutionResult {
        await core.execute(
            plan,
            variables,
            .event(ResolvedColumn([.object(event)])),
            root: ObjectColumn([event]),
            context: ContextBox(context),
            options: options
        )
    }
}

/// The value that stands above the root fields, ready for any number of requests.
public struct ExecutionRoot<Object: Sendable>: Sendable {
    @usableFromInline let owner: any RowOwner

    /// A root of this value.
    @inlinable
    public init(_ object: Object) {
        owner = ObjectColumn([object])
    }
}
