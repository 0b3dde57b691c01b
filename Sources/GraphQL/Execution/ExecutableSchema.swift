public import JSON

/// A schema and the resolvers of all its fields, checked against each other at start.
public struct ExecutableSchema<Object: Sendable, Context: Sendable>: Sendable {
    /// The schema to validate and plan against; it knows how custom scalars
    /// check what clients send.
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
    /// Stays on the caller's executor, but for the root fields of a query that wait for something
    /// at the same time. A task that is cancelled stops between two levels.
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
    /// The event is the value of the root field, or its parent where that field
    /// has a resolver of its own.
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

/// Execution with the types of objects and context forgotten.
@usableFromInline
struct ExecutionCore: Sendable {
    let schema: Schema
    let bindings: Bindings

    /// What is executed: an operation from its root, or one event of a subscription.
    @usableFromInline
    enum Subject {
        case operation
        case event(ResolvedColumn)
    }

    @usableFromInline
    func execute(
        _ plan: ExecutionPlan,
        _ variables: JSONObject,
        _ subject: Subject,
        root: any RowOwner,
        context: any Shared,
        options: ExecutionOptions
    ) async -> ExecutionResult {
        let resolver: LevelResolver
        do throws(RequestErrors) {
            let request = try prepare(plan, variables, suggests: options.suggests)
            resolver = LevelResolver(plan, request, bindings, context: context, hasTimeLeft: options.hasTimeLeft)
        } catch {
            return ExecutionResult(refused: error, options: options)
        }
        begin(resolver, subject, root: root)
        if resolver.hasSeveralWaitingRoots { await resolver.resolveTogether() }
        while let field = resolver.next() {
            do throws(GraphQLError) {
                resolver.store(try await field.resolve(field.parents, field.call), of: field)
            } catch {
                resolver.fail(error, field)
            }
        }
        return response(resolver, options)
    }

    private func begin(_ resolver: LevelResolver, _ subject: Subject, root: any RowOwner) {
        switch subject {
        case .operation: resolver.begin(root: root)
        case .event where hasRootResolver(resolver.request): resolver.begin(root: root)
        case .event(let event): resolver.begin(event: event, root: root)
        }
    }

    private func response(_ resolver: LevelResolver, _ options: ExecutionOptions) -> ExecutionResult {
        guard let stop = resolver.stop else { return ResponseWriter.response(resolver, options) }
        let error = GraphQLError(
            stop == .cancelled ? "The request was cancelled." : "The request took too long; ask for less at once."
        )
        return ExecutionResult(refused: RequestErrors(kind: .operation, errors: [error]), options: options)
    }

    /// Whether the root field of a subscription is resolved, and not itself the event.
    private func hasRootResolver(_ request: PreparedRequest) -> Bool {
        guard let field = request.fields[request.tree.root].first else { return false }
        return bindings.erased.resolvers[field.field.coordinate] != nil
    }

    /// Checks a plan and coerces the variables of a request.
    func prepare(
        _ plan: ExecutionPlan,
        _ variables: JSONObject,
        suggests: Bool
    ) throws(RequestErrors) -> PreparedRequest {
        guard plan.tree.schema.parts === schema.parts else {
            throw RequestErrors(kind: .operation, errors: [GraphQLError("The plan was made for another schema.")])
        }
        guard !plan.tree.variables.isEmpty else { return PreparedRequest(plan.tree, variables: JSONObject()) }
        let coerced = coerceVariableValues(plan.tree.variables, variables, schema: schema, suggests: suggests)
        guard coerced.errors.isEmpty else { throw RequestErrors(kind: .variables, errors: coerced.errors) }
        try plan.variableCost?.check(variables: coerced.values)
        return PreparedRequest(plan.tree, variables: coerced.values)
    }
}
