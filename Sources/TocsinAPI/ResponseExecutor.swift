package import GraphQL
import GraphQLTransport
import JSON
package import TocsinCore

/// How plans are made, and how many are kept for further requests.
package struct PlanOptions: Sendable, Hashable {
    /// How many there are at most.
    package var maximumPlans: Int
    /// How much memory they take at most, roughly, in bytes.
    package var maximumBytes: Int
    /// Whether errors about unknown names tell similar ones.
    package var suggests: Bool

    /// Options with their defaults.
    package init(maximumPlans: Int = 1000, maximumBytes: Int = 32_000_000, suggests: Bool = true) {
        self.maximumPlans = maximumPlans
        self.maximumBytes = maximumBytes
        self.suggests = suggests
    }
}

/// Plans and executes requests of the API to response bytes.
package final class ResponseExecutor: Sendable {
    private let executable: ExecutableSchema<APIObject, RequestContext>
    private let plans: PlanCache
    /// Apart, so that whoever has not signed in pushes nobody's plans out.
    private let strangersPlans: PlanCache
    private let root = ExecutionRoot(APIObject.root)
    private let appSyncOptions: ExecutionOptions
    private let standardOptions: ExecutionOptions

    /// An executor for one schema; throws when resolvers and schema disagree.
    package init(
        schema: APISchema,
        sealer: any Sealer,
        parseLimits: ParseLimits = .standard,
        validationLimits: ValidationLimits = .standard,
        planOptions: PlanOptions = PlanOptions(),
        maximumResponseBytes: Int = 16 * 1024 * 1024
    ) throws(SchemaBindingErrors) {
        var map = ResolverMap<APIObject, RequestContext>()
        RecordResolvers(schema: schema, sealer: sealer).register(in: &map)
        ModelResolvers(schema: schema).register(in: &map)
        DeviceResolvers.register(in: &map)
        ProofResolvers.register(in: &map)
        MemberResolvers.register(in: &map)
        SharingResolvers.register(in: &map)
        DeliveryResolvers.register(in: &map)
        CategoryResolvers.register(in: &map)
        ServerInfoResolvers.register(in: &map)
        ServerStateResolvers.register(in: &map)
        ReadStateResolvers.register(in: &map)
        DirectPushResolvers(schema: schema).register(in: &map)
        ScheduledMessageResolvers.register(in: &map)
        TokenResolvers.register(in: &map)
        UserSettingsResolvers.register(in: &map)
        AuditResolvers.register(in: &map)
        SessionResolvers.register(in: &map)
        IdentityResolvers.register(in: &map)
        if schema.hasPeople {
            PeopleResolvers.register(in: &map)
            GroupResolvers.register(in: &map)
        }
        if schema.hasIncidents { IncidentResolvers(schema: schema).register(in: &map) }
        DigestResolvers.register(in: &map)
        if schema.integrations != nil { IntegrationResolvers.register(in: &map) }
        if schema.integrations != nil { PreviewResolvers.register(in: &map) }
        if schema.integrations != nil { ButtonResolvers.register(in: &map) }
        if schema.monitors != nil { MonitorResolvers.register(in: &map) }
        for scalar in OperatorTypes.scalarNames {
            map.coerce(scalar: scalar) { value throws(CoercionError) in
                try AWSScalars.checked(value, as: scalar)
            }
        }
        executable = try ExecutableSchema(schema: schema.schema, resolvers: map)
        // The executable's schema knows the scalars' input checks, for literals in documents.
        let executed = executable.schema
        func cache(entries: Int, bytes: Int) -> PlanCache {
            PlanCache(
                schema: executed,
                parseLimits: parseLimits,
                validationLimits: validationLimits,
                suggests: planOptions.suggests,
                maximumEntries: entries,
                maximumBytes: bytes
            )
        }
        plans = cache(entries: planOptions.maximumPlans, bytes: planOptions.maximumBytes)
        strangersPlans = cache(entries: 20, bytes: 1_000_000)
        let maximumErrors = validationLimits.maximumErrors
        let appSync = AppSyncErrorEncoding(schema: schema.schema)
        var options = ExecutionOptions(maximumErrors: maximumErrors, errorEncoding: appSync.write)
        options.suggests = planOptions.suggests
        options.maximumBytes = maximumResponseBytes
        appSyncOptions = options
        options.errorEncoding = StandardErrorEncoding.write
        standardOptions = options
    }

    /// The validated operation that a request names, from the cache where possible.
    func plan(of document: DocumentText, operationName: String?) throws(RequestErrors) -> ExecutionPlan {
        do {
            return try plans.plan(of: document, operationName: operationName)
        } catch {
            throw AppSyncWording.worded(error, query: document.text)
        }
    }

    /// The same for whoever has not signed in.
    func plan(ofStranger document: DocumentText, operationName: String?) throws(RequestErrors) -> ExecutionPlan {
        try strangersPlans.plan(of: document, operationName: operationName)
    }

    /// Parses, validates and plans all operations of a document as if a request asked for them.
    package func check(_ document: DocumentText) throws(RequestErrors) {
        for name in try plans.check(document.text) { _ = try plans.plan(of: document, operationName: name) }
    }

    /// What the caches of plans have done, of those who have signed in and of others.
    var planStatistics: PlanCacheStatistics {
        var statistics = plans.statistics
        let others = strangersPlans.statistics
        statistics.hits += others.hits
        statistics.misses += others.misses
        statistics.evicted += others.evicted
        statistics.rejected += others.rejected
        statistics.plans += others.plans
        statistics.bytes += others.bytes
        return statistics
    }

    func execute(
        _ plan: ExecutionPlan,
        _ request: GraphQLRequest,
        context: RequestContext,
        style: ResponseStyle
    ) async -> ExecutionResult {
        await executable.execute(
            plan,
            variables: request.variables,
            root: root,
            context: context,
            options: options(for: style)
        )
    }

    /// What a subscription asks for.
    func subscription(
        _ plan: ExecutionPlan,
        _ variables: JSONObject
    ) throws(RequestErrors) -> SubscriptionSource {
        do {
            return try executable.subscription(plan, variables: variables, options: standardOptions)
        } catch {
            throw error.kind == .variables ? AppSyncWording.worded(error, query: "") : error
        }
    }

    /// The response of one event for a whole group, as somebody sees it.
    func execute(event record: Record, in group: LiveGroup, _ context: RequestContext) async -> [UInt8] {
        let style: ResponseStyle = group.key.isAppSync ? .appSync : .standard
        return await execute(.record(record), group.plan, group.variables, context, style)
    }

    /// The response of one delivery for a whole group.
    func execute(delivery entry: DeliveryService.Entry, in group: DeliveryGroup) async -> [UInt8] {
        let request = group.key.request
        let style: ResponseStyle = request.isAppSync ? .appSync : .standard
        return await execute(.delivery(entry), group.plan, request.variables, group.context, style)
    }

    /// The response of one row of the audit for all who ask alike.
    func execute(audit event: StoredAuditEvent, for listener: AuditFeed.Listener) async -> [UInt8] {
        let style: ResponseStyle = listener.key.isAppSync ? .appSync : .standard
        return await execute(.auditEvent(event), listener.plan, listener.key.variables, listener.context, style)
    }

    /// The response of one event.
    func execute(
        _ event: APIObject,
        _ plan: ExecutionPlan,
        _ variables: JSONObject,
        _ context: RequestContext,
        _ style: ResponseStyle
    ) async -> [UInt8] {
        await executable.executeEvent(
            plan,
            variables: variables,
            event: event,
            context: context,
            options: options(for: style)
        ).bytes
    }

    /// The reply to an executed plan.
    ///
    /// A query that got nothing but "unavailable" is marked as one to send again in a moment.
    func reply(with result: ExecutionResult, of plan: ExecutionPlan, style: ResponseStyle) -> GraphQLReply {
        if let errors = result.requestErrors { return reply(to: errors, style: style) }
        let isUnavailable = plan.operationKind == .query && result.hadErrors && result.isAllUnavailable
        return GraphQLReply(kind: isUnavailable ? .unavailable : .executed, body: result.bytes)
    }

    /// The response to a request that cannot run.
    func reply(to errors: RequestErrors, style: ResponseStyle) -> GraphQLReply {
        let code = errors.code
        let worded = errors.kind == .variables ? AppSyncWording.worded(errors, query: "") : errors
        let coded = worded.errors.map { error in
            var error = error
            if error.extensions["code"] == nil { error.extensions["code"] = .string(code.rawValue) }
            return error
        }
        return GraphQLReply(kind: .requestError, body: responseBody(coded, style: style))
    }

    /// A response object without data.
    func responseBody(_ errors: [GraphQLError], style: ResponseStyle) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw(style == .appSync ? "{\"data\":null,\"errors\":" : "{\"errors\":")
        write(errors, style: style, to: &writer)
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }

    /// A JSON array of errors.
    func errorList(_ errors: [GraphQLError], style: ResponseStyle = .standard) -> [UInt8] {
        var writer = JSONWriter()
        write(errors, style: style, to: &writer)
        return writer.bytes
    }

    private func write(_ errors: [GraphQLError], style: ResponseStyle, to writer: inout JSONWriter) {
        let encode = options(for: style).errorEncoding
        writer.byte(UInt8(ascii: "["))
        for (index, error) in errors.enumerated() {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            encode(error, &writer)
        }
        writer.byte(UInt8(ascii: "]"))
    }

    private func options(for style: ResponseStyle) -> ExecutionOptions {
        switch style {
        case .appSync: appSyncOptions
        case .standard: standardOptions
        }
    }
}

extension RequestErrors {
    /// The code of errors that bring none.
    var code: ErrorCode {
        switch kind {
        case .syntax: .parseFailed
        case .validation: .validationFailed
        case .operation: .operationFailed
        case .variables: .badUserInput
        case .size: .limit
        }
    }
}

extension ExecutionResult {
    /// Whether each error says that the server cannot answer now, and
    /// nothing but nulls was answered.
    fileprivate var isAllUnavailable: Bool {
        guard errors.allSatisfy({ $0.extensions["code"] == .string(ErrorCode.unavailable.rawValue) }),
            let response = try? JSONParser.parse(bytes)
        else { return false }
        return response["data"]?.objectValue?.allSatisfy(\.value.isNull) ?? true
    }
}
