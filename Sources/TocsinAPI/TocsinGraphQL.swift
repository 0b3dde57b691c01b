import GraphQL
package import GraphQLTransport
package import JSON
package import TocsinCore

/// The API as the front serves it: authenticates, executes, subscribes.
///
/// A class, because every operation is run by the one there is.
package final class TocsinGraphQL: GraphQLService {
    let executor: ResponseExecutor
    let feed: LiveFeed
    let services: Services
    let schema: APISchema
    private let authenticator: any Authenticator
    let revoked: RevocationList
    /// Waits until the feed knows of everything committed before, by whichever node: a
    /// subscription begins after that.
    let settle: (@Sendable () async -> Void)?
    /// Which documents requests may run.
    package let documents: Reloadable<RequestDocuments>
    let rates: RequestRates?
    let metrics: GraphQLMetrics
    /// Counts tokens that were refused, for the audit.
    private let refusedTokens: RefusedTokens?

    /// The API over its parts, all of which live as long as the server.
    package init(
        executor: ResponseExecutor,
        feed: LiveFeed,
        services: Services,
        schema: APISchema,
        authenticator: any Authenticator,
        revoked: RevocationList = RevocationList(),
        settle: (@Sendable () async -> Void)? = nil,
        documents: RequestDocuments = .freeTexts,
        rates: RequestRates? = nil,
        refusedTokens: RefusedTokens? = nil,
        metrics: GraphQLMetrics = GraphQLMetrics()
    ) {
        self.metrics = metrics
        self.executor = executor
        self.feed = feed
        self.services = services
        self.schema = schema
        self.authenticator = authenticator
        self.revoked = revoked
        self.settle = settle
        self.documents = Reloadable(documents)
        self.rates = rates
        self.refusedTokens = refusedTokens
    }

    /// Verifies the credentials of a request or socket; a token counts before an API key.
    package func authenticate(_ credentials: Credentials) async -> AuthenticationOutcome<Identity> {
        let result: AuthenticationResult
        let token = credentials.authorization ?? credentials.apiKey
        if let token {
            result = await authenticator.authenticate(token: token, from: credentials.remoteAddress)
        } else if let cookie = credentials.cookie {
            result = await authenticator.authenticate(cookie: cookie)
        } else {
            return .refused(message: Self.missingCredentials)
        }
        switch result {
        case .identity(let identity): return .caller(identity)
        case .refused(let refusal):
            guard let token else { return .refused(message: refusal.rawValue) }
            note(refusal, of: token, from: credentials.remoteAddress)
            // An API key has no form, so it cannot be malformed: AppSync answers that it is not
            // known.
            let isKey = credentials.authorization == nil && refusal == .malformed
            return .refused(message: (isKey ? .notAuthorized : refusal).rawValue)
        case .unavailable(let reason):
            // A client that has gone cut the look-up short: nothing failed, and nobody hears this.
            guard !Task.isCancelled else { return .unavailable(message: "The client has gone.") }
            // What is wrong with keys or database is for the log, not for who
            // has not shown who they are.
            let id = services.report(reason)
            return .unavailable(message: "Sign-in cannot be checked just now; try again. The log has it under \(id).")
        }
    }

    private func note(_ refusal: AuthenticationRefusal, of token: String, from address: String?) {
        guard let refusedTokens else { return }
        let claimed = refusal == .expired || refusal == .revoked ? authenticator.claimed(by: token) : nil
        let digits = authenticator.fingerprint(of: token).prefix(6).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        refusedTokens.note(
            RefusedTokens.Refusal(
                token: claimed?.token.text ?? (digits.isEmpty ? "malformed" : "sha256:" + digits.joined()),
                user: claimed?.user,
                reason: refusal.rawValue,
                address: address
            )
        )
    }

    /// What credentials are recognised by later, without verifying them again; empty for none.
    package func fingerprint(of credentials: Credentials) -> [UInt8] {
        if let token = credentials.authorization ?? credentials.apiKey { return authenticator.fingerprint(of: token) }
        return credentials.cookie.map(authenticator.fingerprint(ofCookie:)) ?? []
    }

    /// The caller whose credentials with this fingerprint were verified before; nil: verify them.
    package func recognize(_ fingerprint: [UInt8], from remoteAddress: String?) -> Identity? {
        authenticator.identity(rememberedBy: fingerprint, from: remoteAddress)
    }

    /// An API key stands for whoever has it: their sockets are not those of one owner.
    package func socketGroup(of caller: Identity) -> String? { caller.provider == .apiKey ? nil : caller.owner }

    /// When the caller's credentials run out, in milliseconds since 1970; nil: never.
    package func expiry(of caller: Identity) -> Int64? { caller.expiresAt?.milliseconds }

    /// Whether the caller's token, key or account was revoked after it was verified.
    package func hasLostAccess(_ caller: Identity) -> Bool { revoked.covers(caller) }

    /// Whether the caller's groups have changed since the credentials were verified.
    package func hasOutdatedRights(_ caller: Identity) -> Bool { revoked.knowsNewerRights(than: caller) }

    /// What clients learn of the server with the acknowledgement.
    package var welcome: JSONObject { ServerInfo.members }

    /// Plans a request and says whether it is a query, a mutation or a subscription, or why it is
    /// neither.
    package func operation(
        of request: GraphQLRequest,
        caller: Identity,
        style: ResponseStyle
    ) -> OperationLookup {
        operation(of: request, caller: caller, style: style, from: nil)
    }

    /// The same; errors and what a mutation writes to the audit say which request it was.
    package func operation(
        of request: GraphQLRequest,
        caller: Identity,
        style: ResponseStyle,
        from source: RequestSource?
    ) -> OperationLookup {
        if caller.isStranger { return operation(ofStranger: request, style, from: source) }
        let now = ContinuousClock.now
        do {
            let plan = try asked(request, caller).plan
            let run: OperationLookup.Run = {
                guard let source else { return await self.run(plan, request, caller, style, asked: now) }
                return await RequestOrigin.$current.withValue(RequestOrigin(source)) {
                    await self.run(plan, request, caller, style, asked: now)
                }
            }
            switch plan.operationKind {
            case .query: return .query(run)
            case .mutation: return .mutation(run)
            case .subscription: return .subscription
            }
        } catch {
            // What can run is counted when it does.
            if let refusal = tooOften(caller, style) {
                metrics.noteRefused(.limit, publishing: false, asked: now)
                return .invalid(refusal)
            }
            metrics.note(error)
            return .invalid(executor.reply(to: error, style: style))
        }
    }

    /// The answer to a caller who asks more often than the rate allows; nil for others,
    /// whose request is counted.
    private func tooOften(
        _ caller: Identity,
        _ style: ResponseStyle,
        rootFields: Int = 1
    ) -> GraphQLReply? {
        guard let seconds = rates?.take(caller.owner, rootFields: rootFields) else { return nil }
        let body = ErrorBody.response(Self.rateExceeded(seconds), code: .limit, style: style)
        return GraphQLReply(kind: .tooManyRequests(retryAfterSeconds: seconds), body: body)
    }

    static func rateExceeded(_ seconds: Int) -> String { "Rate limit exceeded. Try again in \(seconds) s." }

    /// Runs a query or mutation and answers its response; a subscription is refused.
    package func execute(
        _ request: GraphQLRequest,
        caller: Identity,
        style: ResponseStyle
    ) async -> GraphQLReply {
        switch operation(of: request, caller: caller, style: style) {
        case .query(let run), .mutation(let run): return await run()
        case .invalid(let reply): return reply
        case .refused(let message):
            let error = GraphQLError(.unauthenticated, message)
            return GraphQLReply(kind: .requestError, body: executor.responseBody([error], style: style))
        case .subscription:
            if let refusal = refusal(of: caller, style, asked: .now) { return refusal }
            let error = GraphQLError(.badRequest, "A subscription needs a WebSocket; send queries and mutations here.")
            return GraphQLReply(kind: .requestError, body: executor.responseBody([error], style: style))
        }
    }

    private func run(
        _ plan: ExecutionPlan,
        _ request: GraphQLRequest,
        _ caller: Identity,
        _ style: ResponseStyle,
        asked: ContinuousClock.Instant
    ) async -> GraphQLReply {
        if let refusal = refusal(of: caller, style, asked: asked, plan) { return refusal }
        let context = RequestContext(caller: caller, services: services)
        return await reply(plan, request, context, style, asked: asked)
    }

    /// Executes and counts what was planned.
    func reply(
        _ plan: ExecutionPlan,
        _ request: GraphQLRequest,
        _ context: RequestContext,
        _ style: ResponseStyle,
        asked: ContinuousClock.Instant
    ) async -> GraphQLReply {
        let begun = ContinuousClock.now
        let result = await executor.execute(plan, request, context: context, style: style)
        var reply = executor.reply(with: result, of: plan, style: style)
        reply.subjects = context.held.subjects
        metrics.note(plan.operationKind, result, context.held.published, asked: asked, begun: begun)
        return reply
    }

    /// The answer to a caller for whom nothing is run now; nil for others,
    /// whose request is counted.
    private func refusal(
        of caller: Identity,
        _ style: ResponseStyle,
        asked: ContinuousClock.Instant,
        _ plan: ExecutionPlan? = nil
    ) -> GraphQLReply? {
        let (refusal, code) = refusal(of: caller, style, rootFields: plan?.rootFieldCount ?? 1)
        guard let refusal else { return nil }
        let publishes = plan?.rootFieldNames.contains(GraphQLMetrics.publishField) ?? false
        metrics.noteRefused(code, publishing: publishes, asked: asked)
        return refusal
    }

    private func refusal(
        of caller: Identity,
        _ style: ResponseStyle,
        rootFields: Int
    ) -> (GraphQLReply?, ErrorCode) {
        guard !revoked.covers(caller) else {
            let body = executor.responseBody([Self.ended], style: style)
            return (GraphQLReply(kind: .requestError, body: body), .unauthenticated)
        }
        return (tooOften(caller, style, rootFields: rootFields), .limit)
    }

    /// What the request asks for: the document it sends or names, and the operation planned for it.
    func asked(
        _ request: GraphQLRequest,
        _ caller: Identity,
        isCounted: Bool = true
    ) throws(RequestErrors) -> (document: DocumentText, plan: ExecutionPlan) {
        let documents = documents.value
        let requested = try isCounted ? document(of: request) : documents.document(of: request)
        let plan = try executor.plan(of: requested.text, operationName: request.operationName)
        documents.store(requested, owner: caller.owner)
        return (requested.text, plan)
    }

    /// The document a request asks for; counts whether one that was named is known.
    func document(of request: GraphQLRequest) throws(RequestErrors) -> RequestedDocument {
        guard request.documentID != nil || !request.extensions.isEmpty else {
            return try documents.value.document(of: request)
        }
        let isNamed = request.documentID != nil || request.extensions["persistedQuery"] != nil
        do throws(RequestErrors) {
            let found = try documents.value.document(of: request)
            // A text that is stored with its hash was missing.
            if isNamed { metrics.note(found.newDigest == nil ? .hit : .miss) }
            return found
        } catch {
            let code = error.errors.first?.extensions["code"]?.stringValue
            if isNamed { metrics.note(code == ErrorCode.persistedQueryNotFound.rawValue ? .miss : .refused) }
            throw error
        }
    }

    static let outdated = GraphQLError(
        .unavailable,
        "Your groups have changed just now. Connect again, and subscribe again."
    )
    static let ended = GraphQLError(.unauthenticated, AuthenticationRefusal.revoked.rawValue)
}

extension RequestOrigin {
    /// Where a request came from, as its service knows it.
    package init(_ source: RequestSource) {
        self.init(address: source.remoteAddress, requestID: source.id, way: Self.way(of: source))
        deviceID = source.deviceID.flatMap { $0.utf8.count <= 128 ? DeviceID($0) : nil }
    }

    /// By what way a request came: a browser's session is the server's own word.
    ///
    /// What a program calls itself is only its word; nothing rests on it but what timelines say.
    private static func way(of source: RequestSource) -> IncidentVia {
        if source.isOfBrowserSession { return .console }
        return source.userAgent?.hasPrefix("tocsin/") == true ? .cli : .api
    }
}
