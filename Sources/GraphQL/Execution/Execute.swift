public import JSON

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
