/// An operation of a document, ready to be run for any number of requests.
public final class PlannedOperation: Sendable {
    /// What to execute.
    public let plan: ExecutionPlan
    /// What each request costs, for operations that variables can make too expensive; to be checked before executing.
    public let variableCost: VariableCost?

    /// Plans one operation of a document that has been validated within these limits.
    ///
    /// Throws when there is no such operation, or the schema does not serve its kind.
    public init(
        document: Document,
        operationName: String? = nil,
        schema: Schema,
        limits: ValidationLimits = .standard
    ) throws(GraphQLError) {
        plan = try ExecutionPlan.make(document: document, operationName: operationName, schema: schema)
        variableCost = VariableCost(plan, limits: limits)
    }
}
