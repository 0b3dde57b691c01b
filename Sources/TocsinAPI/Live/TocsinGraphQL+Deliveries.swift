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
        _ sink: any ResponseSink
    ) async throws(RequestErrors) -> any StreamHandle {
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
            throw RequestErrors(refusal(error, of: field))
        }
        let group = DeliveryGroup(
            key: key,
            messageID: message,
            inspectable: inspectable,
            plan: plan,
            context: RequestContext(caller: caller, services: services)
        )
        guard let member = await feed.deliveries.join(group, sink: sink, caller: caller, hold: hold) else {
            throw RequestErrors(Self.stopping)
        }
        return member
    }
}
