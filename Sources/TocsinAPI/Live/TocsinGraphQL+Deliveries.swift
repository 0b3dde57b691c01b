import GraphQL
import GraphQLTransport
import TocsinCore

extension TocsinGraphQL {
    /// The one subscription that is not to a model's records.
    static let deliveryField = "onDelivery"

    /// Subscribes to deliveries of one message, or of all that the caller may inspect.
    func joinDeliveries(
        _ plan: ExecutionPlan,
        _ field: SubscriptionSource,
        _ key: GroupKey,
        _ caller: Identity,
        _ style: ResponseStyle,
        _ sink: any ResponseSink
    ) async -> SubscribeOutcome {
        let message = field.arguments["messageId"]?.stringValue.map { MessageID($0) }
        let inspectable: Predicate
        var hold: GrantHold?
        do throws(ServiceError) {
            guard let found = services.deliveries.inspectable(by: caller) else { throw ServiceError.unauthorized }
            if let message { try await services.deliveries.checkListening(to: message, caller: caller) }
            inspectable = found
            if let question = found.grantQuestions.first {
                hold = try await feed.hold(question.subjects, services.feeds, caller: caller)
            }
        } catch {
            let coordinate = FieldCoordinate(parentType: "Subscription", fieldName: field.fieldName)
            let refusal = GraphQLError(error, at: coordinate, report: services.report)
            return .refused(errors: executor.errorList([refusal], style: style))
        }
        let group = DeliveryGroup(
            key: key,
            messageID: message,
            inspectable: inspectable,
            plan: plan,
            context: RequestContext(caller: caller, services: services)
        )
        guard let member = await feed.deliveries.join(group, sink: sink, caller: caller, hold: hold) else {
            let stopping = GraphQLError(.unavailable, "The server is stopping.")
            return .refused(errors: executor.errorList([stopping], style: style))
        }
        return .stream(member)
    }
}
