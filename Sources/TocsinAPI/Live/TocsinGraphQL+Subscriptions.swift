import GraphQL
package import GraphQLTransport
import JSON
package import TocsinCore

// Subscribing: to records here, to deliveries in its own file.
extension TocsinGraphQL {
    /// Begins a subscription; every event that commits after this returns reaches `sink`.
    package func subscribe(
        _ request: GraphQLRequest,
        caller: Identity,
        options: SubscribeOptions,
        sink: any ResponseSink
    ) async -> SubscribeOutcome {
        guard !revoked.covers(caller) else {
            return .refused(errors: executor.errorList([Self.ended], style: options.style))
        }
        if let seconds = rates?.take(caller.owner) {
            return .refused(errors: ErrorBody.errors(Self.rateExceeded(seconds), code: .limit, style: options.style))
        }
        do {
            let (document, plan) = try asked(request, caller)
            let request = GraphQLRequest(
                query: document.text,
                variables: request.variables,
                operationName: request.operationName,
                extensions: request.extensions,
                documentID: request.documentID
            )
            let field = try executor.subscription(plan, request.variables)
            let outcome = await join(plan, field, request, caller, options, sink)
            // Access that ended while it was registering was told to those who were registered.
            let isOutdated = revoked.knowsNewerRights(than: caller)
            guard isOutdated || revoked.covers(caller), case .stream(let stream) = outcome else { return outcome }
            stream.cancel()
            let error = isOutdated ? Self.outdated : Self.ended
            return .refused(errors: executor.errorList([error], style: options.style))
        } catch {
            return .refused(errors: executor.errorList(error.errors, style: options.style))
        }
    }

    private func join(
        _ plan: ExecutionPlan,
        _ field: SubscriptionSource,
        _ request: GraphQLRequest,
        _ caller: Identity,
        _ options: SubscribeOptions,
        _ sink: any ResponseSink
    ) async -> SubscribeOutcome {
        let style = options.style
        if field.fieldName == Self.deliveryField {
            let key = groupKey(request, field, caller, style)
            let outcome = await joinDeliveries(plan, field, key, caller, style, sink)
            if case .stream = outcome { sink.caughtUp() }
            return outcome
        }
        await settle?()
        let (interest, start): (LiveInterest, FeedStart?)
        do {
            (interest, start) = try await self.interest(field, caller, resumeAfter: options.resumeAfter)
        } catch {
            let coordinate = FieldCoordinate(parentType: "Subscription", fieldName: field.fieldName)
            let refusal = GraphQLError(error, at: coordinate, report: services.report)
            return .refused(errors: executor.errorList([refusal], style: style))
        }
        let group = LiveGroup(
            key: groupKey(request, field, caller, style),
            interest: interest,
            plan: plan,
            variables: request.variables,
            context: RequestContext(caller: caller, services: services),
            fieldName: field.fieldName
        )
        guard let member = feed.join(group, sink: sink, caller: caller, start: start) else {
            return .refused(
                errors: executor.errorList([GraphQLError(.unavailable, "The server is stopping.")], style: style)
            )
        }
        return .stream(member)
    }

    /// A variable that the document uses as `after` alone does not matter to
    /// what an event looks like.
    private func groupKey(
        _ request: GraphQLRequest,
        _ field: SubscriptionSource,
        _ caller: Identity,
        _ style: ResponseStyle
    ) -> GroupKey {
        let resumed = field.arguments["after"] == nil ? [] : ResumeVariables.names(in: request.query)
        let variables = request.variables.filter { !resumed.contains($0.key) }
        return GroupKey(
            query: request.query,
            operationName: request.operationName,
            variables: JSONObject(variables.map { ($0.key, $0.value) }),
            rights: rights(of: caller),
            isAppSync: style == .appSync
        )
    }
}
