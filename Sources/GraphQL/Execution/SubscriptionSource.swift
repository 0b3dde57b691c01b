public import JSON

extension ExecutableSchema {
    /// What a subscription's root field was asked for; for applications that find the events
    /// themselves, and answer each with `executeEvent`.
    public func subscription(
        _ plan: ExecutionPlan,
        variables: JSONObject = [:],
        options: ExecutionOptions = ExecutionOptions()
    ) throws(RequestErrors) -> SubscriptionSource {
        try core.subscription(plan, variables, options)
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

extension ExecutionCore {
    func subscription(
        _ plan: ExecutionPlan,
        _ variables: JSONObject,
        _ options: ExecutionOptions
    ) throws(RequestErrors) -> SubscriptionSource {
        guard plan.operationKind == .subscription else {
            throw RequestErrors(kind: .operation, errors: [GraphQLError("The operation is no subscription.")])
        }
        let request = try prepare(plan, variables, suggests: options.suggests)
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
}
