public import JSON

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
