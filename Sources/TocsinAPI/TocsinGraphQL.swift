import GraphQL
package import GraphQLTransport
import JSON
package import TocsinCore

/// The API as the front serves it: authenticates, executes, subscribes.
package struct TocsinGraphQL: GraphQLService {
    let executor: ResponseExecutor
    let feed: LiveFeed
    let services: Services
    private let schema: APISchema
    private let authenticator: any Authenticator
    private let revoked: RevocationList
    private let documents: RequestDocuments
    private let rates: RequestRates?

    package init(
        executor: ResponseExecutor,
        feed: LiveFeed,
        services: Services,
        schema: APISchema,
        authenticator: any Authenticator,
        revoked: RevocationList = RevocationList(),
        documents: RequestDocuments = .freeTexts,
        rates: RequestRates? = nil
    ) {
        self.executor = executor
        self.feed = feed
        self.services = services
        self.schema = schema
        self.authenticator = authenticator
        self.revoked = revoked
        self.documents = documents
        self.rates = rates
    }

    // MARK: Who asks

    package func authenticate(_ credentials: Credentials) async -> AuthenticationOutcome<Identity> {
        guard let token = credentials.authorization ?? credentials.apiKey else {
            return .refused(message: "Valid authorization header not provided.")
        }
        switch await authenticator.authenticate(token: token) {
        case .identity(let identity): return .caller(identity)
        case .refused(let refusal):
            // A key is no token that could be misspelt (appsync.md 3.4).
            let isKey = credentials.authorization == nil && refusal == .malformed
            return .refused(message: (isKey ? .notAuthorized : refusal).rawValue)
        case .unavailable(let reason):
            // What is wrong with keys or database is for the log, not for who has not shown who they are.
            let id = services.report(reason)
            return .unavailable(message: "Sign-in cannot be checked just now; try again. The log has it under \(id).")
        }
    }

    /// An API key stands for whoever has it: their sockets are not those of one owner.
    package func socketGroup(of caller: Identity) -> String? { caller.provider == .apiKey ? nil : caller.owner }

    package func expiry(of caller: Identity) -> Int64? { caller.expiresAt?.milliseconds }

    // MARK: Running

    package func operationKind(
        of request: GraphQLRequest,
        caller: Identity,
        style: ResponseStyle
    ) -> OperationLookup {
        do {
            switch try asked(request, caller).plan.operationKind {
            case .query: return .query
            case .mutation: return .mutation
            case .subscription: return .subscription
            }
        } catch {
            // What can run is counted when it does.
            return .invalid(tooOften(caller, style) ?? executor.reply(to: error, style: style))
        }
    }

    /// The answer to a caller who asks more often than the rate allows; nil for others, whose request is counted.
    private func tooOften(_ caller: Identity, _ style: ResponseStyle) -> GraphQLReply? {
        guard let seconds = rates?.take(caller.owner) else { return nil }
        let body = ErrorBody.response(Self.rateExceeded(seconds), code: .limit, style: style)
        return GraphQLReply(kind: .tooManyRequests(retryAfterSeconds: seconds), body: body)
    }

    private static func rateExceeded(_ seconds: Int) -> String { "Rate limit exceeded. Try again in \(seconds) s." }

    package func execute(
        _ request: GraphQLRequest,
        caller: Identity,
        style: ResponseStyle
    ) async -> GraphQLReply {
        guard !revoked.covers(caller) else {
            return GraphQLReply(kind: .requestError, body: executor.responseBody([Self.ended], style: style))
        }
        if let refusal = tooOften(caller, style) { return refusal }
        let plan: ExecutionPlan
        do {
            plan = try asked(request, caller).plan
        } catch {
            return executor.reply(to: error, style: style)
        }
        guard plan.operationKind != .subscription else {
            let error = GraphQLError(.badRequest, "A subscription needs a WebSocket; send queries and mutations here.")
            return GraphQLReply(kind: .requestError, body: executor.responseBody([error], style: style))
        }
        let context = RequestContext(caller: caller, services: services)
        let result = await executor.execute(plan, request, context: context, style: style)
        if let errors = result.requestErrors { return executor.reply(to: errors, style: style) }
        return GraphQLReply(kind: .executed, body: result.bytes)
    }

    /// What the request asks for: the document it sends or names, and the operation planned for it.
    private func asked(
        _ request: GraphQLRequest,
        _ caller: Identity
    ) throws(RequestErrors) -> (document: DocumentText, plan: ExecutionPlan) {
        let requested = try documents.document(of: request)
        let plan = try executor.plan(of: requested.text, operationName: request.operationName)
        documents.store(requested, owner: caller.owner)
        return (requested.text, plan)
    }

    private static let ended = GraphQLError(.unauthenticated, AuthenticationRefusal.revoked.rawValue)

    // MARK: Subscribing

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
            var request = request
            request.query = document.text
            let field = try executor.subscription(plan, request.variables)
            return await join(plan, field, request, caller, options.style, sink)
        } catch {
            return .refused(errors: executor.errorList(error.errors, style: options.style))
        }
    }

    private func join(
        _ plan: ExecutionPlan,
        _ field: SubscriptionSource,
        _ request: GraphQLRequest,
        _ caller: Identity,
        _ style: ResponseStyle,
        _ sink: any ResponseSink
    ) async -> SubscribeOutcome {
        if field.fieldName == Self.deliveryField {
            let key = groupKey(request, field, caller, style)
            return await joinDeliveries(plan, field, key, caller, style, sink)
        }
        let interest: LiveInterest
        do {
            interest = try await self.interest(field, caller)
        } catch {
            let place = FieldPlace(parentType: "Subscription", fieldName: field.fieldName)
            let refusal = GraphQLError(error, at: place, report: services.report)
            return .refused(errors: executor.errorList([refusal], style: style))
        }
        let group = LiveGroup(
            key: groupKey(request, field, caller, style),
            interest: interest,
            plan: plan,
            variables: request.variables,
            context: RequestContext(caller: caller, services: services)
        )
        guard let member = feed.join(group, sink: sink, caller: caller, replayAfter: interest.feed) else {
            return .refused(
                errors: executor.errorList([GraphQLError(.unavailable, "The server is stopping.")], style: style)
            )
        }
        return .stream(member)
    }

    /// The variable that carries `after` does not matter to what an event looks like; where several have its text, none
    /// can be told to be it.
    private func groupKey(
        _ request: GraphQLRequest,
        _ field: SubscriptionSource,
        _ caller: Identity,
        _ style: ResponseStyle
    ) -> GroupKey {
        let after = field.arguments["after"]?.stringValue
        let carriers = request.variables.filter { after != nil && $0.value.stringValue == after }
        let variables = request.variables.filter { carriers.count != 1 || $0.key != carriers[0].key }
        return GroupKey(
            query: request.query,
            operationName: request.operationName,
            variables: JSONObject(variables.map { ($0.key, $0.value) }),
            owner: caller.owner,
            scope: caller.scope,
            isAppSync: style == .appSync
        )
    }

    private func interest(_ field: SubscriptionSource, _ caller: Identity) async throws(ServiceError) -> LiveInterest {
        let (model, change): (ModelType, RecordChange) =
            switch schema.operations["Subscription.\(field.fieldName)"] {
            case .onCreate(let model): (model, .created)
            case .onUpdate(let model): (model, .updated)
            case .onDelete(let model): (model, .deleted)
            default: throw .internal("subscription \(field.fieldName) has no source")
            }
        guard case .allow(let visible) = AccessPolicy.decision(.listen, on: model, for: caller) else {
            throw .unauthorized
        }
        var interest = LiveInterest(model: model, change: change, predicate: visible)
        interest.filter = try FilterTranslation.subscriptionPredicate(
            field.arguments["filter"],
            on: model,
            limits: services.checks.limits,
            caller: caller
        )
        for rule in model.rules.filter({ $0.covers(.listen) }).compactMap(\.owner) {
            let owner = field.arguments[rule.field]?.stringValue ?? ""
            guard !owner.isEmpty, !caller.ownerForms(of: rule.claim).contains(owner) else { continue }
            // Who may hear of everybody's records may choose whose; others name nobody but themselves.
            guard visible == .always, let position = model.position(of: rule.field) else { throw .unauthorized }
            let isOwner: Comparison = model.fields[position].isList ? .contains(owner) : .equal(.text(owner))
            interest.filter = interest.filter.and(.field(position, isOwner))
        }
        try await restrictToFeed(&interest, field, caller)
        return interest
    }

    /// `topicId` narrows the subscription to one feed; `after` resumes that feed.
    private func restrictToFeed(
        _ interest: inout LiveInterest,
        _ field: SubscriptionSource,
        _ caller: Identity
    ) async throws(ServiceError) {
        let topic = field.arguments["topicId"]?.stringValue.map { TopicID($0) }
        let after = field.arguments["after"]?.stringValue
        guard topic != nil || after != nil, let position = interest.model.position(of: "topicId") else { return }
        guard let topic else { throw .badRequest("after needs topicId: a cursor resumes the feed of one topic.") }
        guard let last = try await services.messages.lastNumber(of: topic, caller: caller) else { throw .unauthorized }
        interest.predicate = interest.predicate.and(.field(position, .equal(.text(topic.text))))
        guard let after else { return }
        guard let cursor = MessageCursor(text: after, sealer: services.sealer), cursor.topicID == topic,
            cursor.number <= last
        else {
            throw .badCursor("This cursor was changed or belongs to another topic. Read the feed anew, without after.")
        }
        interest.feed = LiveInterest.Feed(topicID: topic, after: cursor.number)
    }
}
