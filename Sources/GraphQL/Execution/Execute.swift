public import JSON

extension ExecutableSchema {
    /// Answers a query or mutation (GraphQL §6.2).
    ///
    /// Stays on the caller's executor. A task that is cancelled stops between two levels.
    public func execute(
        _ plan: ExecutionPlan,
        variables: JSONObject = [:],
        root: Object,
        context: Context,
        options: ExecutionOptions = ExecutionOptions()
    ) async -> ExecutionResult {
        let request: PreparedRequest
        do throws(RequestErrors) {
            request = try prepare(plan, variables)
        } catch {
            return ExecutionResult(refused: error, options: options)
        }
        var resolver = makeResolver(plan, request, context)
        let isComplete = await resolver.resolve(root: root)
        return write(resolver, isComplete: isComplete, options)
    }

    /// The first half of a subscription: what its root field was asked for (GraphQL §6.2.3.1 CreateSourceEventStream).
    ///
    /// The application finds the events; `executeEvent` answers each.
    public func subscription(
        _ plan: ExecutionPlan,
        variables: JSONObject = [:]
    ) throws(RequestErrors) -> SubscriptionSource {
        guard plan.operationKind == .subscription else {
            throw RequestErrors(kind: .operation, errors: [GraphQLError("The operation is no subscription.")])
        }
        let request = try prepare(plan, variables)
        guard let field = request.fields[plan.tree.root].first else {
            throw RequestErrors(kind: .operation, errors: [GraphQLError("The subscription selects no field.")])
        }
        do throws(GraphQLError) {
            return SubscriptionSource(
                fieldName: field.field.name,
                responseKey: field.responseKey,
                arguments: try request.arguments(of: field),
                selection: request.selection(of: field)
            )
        } catch {
            throw RequestErrors(kind: .variables, errors: [error])
        }
    }

    /// Answers one event of a subscription, whose root field has the event as its value (GraphQL §6.2.3.2).
    public func executeEvent(
        _ plan: ExecutionPlan,
        variables: JSONObject = [:],
        event: Object,
        context: Context,
        options: ExecutionOptions = ExecutionOptions()
    ) async -> ExecutionResult {
        let request: PreparedRequest
        do throws(RequestErrors) {
            request = try prepare(plan, variables)
        } catch {
            return ExecutionResult(refused: error, options: options)
        }
        var resolver = makeResolver(plan, request, context)
        let isComplete = await resolver.resolve(event: event, root: event)
        return write(resolver, isComplete: isComplete, options)
    }

    private func prepare(_ plan: ExecutionPlan, _ variables: JSONObject) throws(RequestErrors) -> PreparedRequest {
        guard plan.tree.schema.parts === schema.parts else {
            throw RequestErrors(kind: .operation, errors: [GraphQLError("The plan was made for another schema.")])
        }
        let coerced = coerceVariableValues(plan.tree.variables, variables, schema: schema)
        guard coerced.errors.isEmpty else { throw RequestErrors(kind: .variables, errors: coerced.errors) }
        return PreparedRequest(plan.tree, variables: coerced.values)
    }

    private func makeResolver(
        _ plan: ExecutionPlan,
        _ request: PreparedRequest,
        _ context: Context
    ) -> LevelResolver<Object, Context> {
        LevelResolver(executable: self, request: request, context: context, operationKind: plan.operationKind)
    }

    private func write(
        _ resolver: LevelResolver<Object, Context>,
        isComplete: Bool,
        _ options: ExecutionOptions
    ) -> ExecutionResult {
        guard isComplete else {
            let cancelled = GraphQLError("The request was cancelled.")
            return ExecutionResult(refused: RequestErrors(kind: .operation, errors: [cancelled]), options: options)
        }
        var writer = ResponseWriter(resolver, maximumErrors: options.maximumErrors)
        let bytes = writer.response(options)
        return ExecutionResult(bytes: bytes, errors: writer.errors)
    }
}

/// What a subscription's root field was asked for.
public struct SubscriptionSource: Sendable {
    /// The field's name in the schema.
    public let fieldName: String
    /// The field's name in the response.
    public let responseKey: String
    /// The field's coerced arguments.
    public let arguments: Arguments
    /// What is selected of each event.
    public let selection: SelectedFields
}
