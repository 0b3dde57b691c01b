import GraphQL
import GraphQLTransport
import TocsinCore

extension TocsinGraphQL {
    /// The one subscription that is not to a model's records.
    static let deliveryField = "onDelivery"

    /// Subscribes to deliveries of one message, or of all that the caller may inspect.
    ///
    /// Who may read a message without being its owner hears of their own devices alone.
    func joinDeliveries(
        _ plan: ExecutionPlan,
        _ field: SubscriptionSource,
        _ request: GroupKey,
        _ caller: Identity,
        _ sink: any ResponseSink
    ) async throws(RequestErrors) -> any StreamHandle {
        let id = field.arguments["messageId"]?.stringValue.map { MessageID($0) }
        do throws(ServiceError) {
            var hearing: DeliveryService.Hearing?
            if let id {
                // What was granted on another node counts from here on.
                await settle?()
                hearing = try await services.deliveries.hearing(of: id, caller: caller)
            }
            guard let permitted = hearing?.permitted ?? services.deliveries.inspectable(by: caller) else {
                throw ServiceError.unauthorized
            }
            let hold = try await hold(of: permitted, caller)
            let group = DeliveryGroup(
                key: DeliveryGroup.Key(request: request, isOwnOnly: hearing?.isOwnOnly ?? false),
                message: hearing?.message,
                permitted: permitted,
                plan: plan,
                context: RequestContext(caller: caller, services: services)
            )
            return try await join(group, caller, hold, sink)
        } catch {
            throw RequestErrors(refusal(error, of: field))
        }
    }

    /// Keeps in mind what was granted to the caller, where that makes a difference.
    private func hold(of permitted: Predicate, _ caller: Identity) async throws(ServiceError) -> GrantHold? {
        guard let question = permitted.grantQuestions.first else { return nil }
        return try await feed.hold(question.subjects, services.feeds, caller: caller)
    }

    private func join(
        _ group: DeliveryGroup,
        _ caller: Identity,
        _ hold: GrantHold?,
        _ sink: any ResponseSink
    ) async throws(ServiceError) -> DeliveryMember {
        if group.message != nil, hold != nil {
            guard await feed.sorted() else { throw .unavailable(Self.behind) }
        }
        guard let member = await feed.deliveries.join(group, sink: sink, caller: caller, hold: hold) else {
            throw .unavailable("the server is stopping")
        }
        // What ended while it was registering was told to those who were registered.
        guard let reason = whyNot(group, hold) else { return member }
        member.cancel()
        throw reason
    }

    /// Why a group that has named a message is not to hear of it; nil: it is.
    private func whyNot(_ group: DeliveryGroup, _ hold: GrantHold?) -> ServiceError? {
        if let hold, !hold.isGood { return .unavailable(Self.behind) }
        if feed.deliveries.isPermitted(group) { return nil }
        guard let question = group.permitted.grantQuestions.first else { return .unauthorized }
        if hold == nil { return .limit(Self.tooManyGrants) }
        return feed.book.hasLeftOut(of: question.subjects) ? .limit(Self.tooManyOfOwner) : .unauthorized
    }
}
