import GraphQL
package import GraphQLTransport
import JSON
import Metrics
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
        let begun = ContinuousClock.now
        if !revoked.covers(caller), let seconds = rates?.take(caller.owner) {
            metrics.noteSubscribed(RequestErrors(GraphQLError(.limit, "")), begun: begun)
            return .refused(errors: ErrorBody.errors(Self.rateExceeded(seconds), code: .limit, style: options.style))
        }
        do throws(RequestErrors) {
            let stream = try await stream(of: request, caller, options, sink)
            metrics.noteSubscribed(nil, begun: begun)
            return .stream(stream)
        } catch {
            metrics.noteSubscribed(error, begun: begun)
            return .refused(errors: executor.errorList(error.errors, style: options.style))
        }
    }

    private func stream(
        of request: GraphQLRequest,
        _ caller: Identity,
        _ options: SubscribeOptions,
        _ sink: any ResponseSink
    ) async throws(RequestErrors) -> any StreamHandle {
        guard !revoked.covers(caller) else { throw RequestErrors(Self.ended) }
        let (document, plan) = try asked(request, caller, isCounted: false)
        let request = GraphQLRequest(
            query: document.text,
            variables: request.variables,
            operationName: request.operationName,
            extensions: request.extensions,
            documentID: request.documentID
        )
        let field = try executor.subscription(plan, request.variables)
        let stream = try await join(plan, field, request, caller, options, sink)
        // Access that ended while it was registering was told to those who were registered.
        let isOutdated = revoked.knowsNewerRights(than: caller)
        guard isOutdated || revoked.covers(caller) else { return stream }
        stream.cancel()
        throw RequestErrors(isOutdated ? Self.outdated : Self.ended)
    }

    private func join(
        _ plan: ExecutionPlan,
        _ field: SubscriptionSource,
        _ request: GraphQLRequest,
        _ caller: Identity,
        _ options: SubscribeOptions,
        _ sink: any ResponseSink
    ) async throws(RequestErrors) -> any StreamHandle {
        let style = options.style
        if field.fieldName == Self.deliveryField {
            let key = groupKey(request, field, caller, style)
            let stream = try await joinDeliveries(plan, field, key, caller, sink)
            sink.caughtUp()
            return stream
        }
        if field.fieldName == Self.auditField {
            let stream = try await joinAudit(plan, field, groupKey(request, field, caller, style), caller, sink)
            sink.caughtUp()
            return stream
        }
        await settle?()
        if field.fieldName == Self.entryField, schema.hasIncidents {
            return try await joinEntries(plan, field, request, caller, style, sink)
        }
        if field.fieldName == Self.readStateField {
            return try joinReadState(plan, field, request, caller, style, sink)
        }
        let joined: LiveMember?
        do throws(ServiceError) {
            let (interest, start) = try await self.interest(field, caller, resumeAfter: options.resumeAfter)
            let who = try await joining(interest, caller, sink, start)
            let group = liveGroup(plan, field, request, caller, style, interest)
            joined = feed.join(group, who)
            if let joined { feed.check(joined, who, in: group) }
        } catch {
            if case .badCursor = error { feed.metrics.replays[.badCursor].add() }
            if case .cursorExpired = error { feed.metrics.replays[.cursorExpired].add() }
            throw RequestErrors(refusal(error, of: field))
        }
        guard let joined else { throw RequestErrors(Self.stopping) }
        return joined
    }

    /// Why a subscription to a field is refused, as its client is told.
    func refusal(_ error: ServiceError, of field: SubscriptionSource) -> GraphQLError {
        let coordinate = FieldCoordinate(parentType: "Subscription", fieldName: field.fieldName)
        return GraphQLError(error, at: coordinate, report: services.report)
    }

    static let stopping = GraphQLError(.unavailable, "The server is stopping.")

    /// Who joins, with what is known of their grants.
    private func joining(
        _ interest: LiveInterest,
        _ caller: Identity,
        _ sink: any ResponseSink,
        _ start: FeedStart?
    ) async throws(ServiceError) -> LiveMember.Joining {
        var who = LiveMember.Joining(caller: caller, sink: sink, start: start)
        guard let question = interest.grantQuestion else { return who }
        guard let hold = try await feed.hold(question.subjects, services.feeds, caller: caller) else {
            throw .limit(Self.tooManyGrants)
        }
        who.hold = hold
        guard interest.needsGrant, let topic = interest.topicID else { return who }
        who.grantQuestion = question
        guard await feed.sorted() else { throw .unavailable(Self.behind) }
        guard feed.mayHear(of: topic, question) else {
            if feed.book.hasLeftOut(of: question.subjects) { throw .limit(Self.tooManyOfOwner) }
            throw .unauthorized
        }
        return who
    }

    static let tooManyGrants =
        "This server keeps no more grants in mind for live subscriptions just now. Try again later, or name a topicId of your own."

    static let tooManyOfOwner =
        "The topic's owner shares more topics with those who are connected than this server keeps in mind. Share by group."

    static let behind = "the live feed is behind what was committed"

    private func liveGroup(
        _ plan: ExecutionPlan,
        _ field: SubscriptionSource,
        _ request: GraphQLRequest,
        _ caller: Identity,
        _ style: ResponseStyle,
        _ interest: LiveInterest
    ) -> LiveGroup {
        var key = groupKey(request, field, caller, style)
        key.rights.subjects = interest.grantQuestion?.subjects ?? []
        var (reader, readersKey) = (caller, GroupKey?.none)
        if interest.grantQuestion != nil, looksAlikeToReaders(field.selection, interest) {
            if let topic = interest.topicID {
                (reader, key.rights) = (Identity(readerOf: topic), CallerRights(readersOf: topic))
            } else {
                readersKey = key
                readersKey?.rights = CallerRights(readersOf: nil)
            }
        }
        return LiveGroup(
            key: key,
            interest: interest,
            plan: plan,
            variables: request.variables,
            context: RequestContext(caller: reader, services: services),
            fieldName: field.fieldName,
            readersKey: readersKey
        )
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

extension RequestErrors {
    /// A subscription is refused for this.
    init(_ error: GraphQLError) { self.init(kind: .operation, errors: [error]) }
}
