import GraphQL
import JSON
import TocsinCore

/// Resolvers of deliveries: what became of a message's pushes.
enum DeliveryResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        registerMessageFields(in: &map)
        registerDelivery(in: &map)
        registerSummary(in: &map)
        ExplanationResolvers.register(in: &map)
        map.service("Mutation.redriveDeliveries") { invocation throws(ServiceError) in
            let context = invocation.context
            let summary = try await context.services.deliveries.redrive(
                MessageID(invocation.text("messageId")),
                status: status(invocation) ?? .failed,
                reason: invocation.arguments["reason"]?.stringValue.map(DeliveryReason.init(rawValue:)),
                caller: context.caller
            )
            return .object(.summary(summary))
        }
    }

    private static func status(_ invocation: FieldInvocation<RequestContext>) -> DeliveryStatus? {
        invocation.arguments["status"]?.stringValue.flatMap { DeliveryStatus(rawValue: $0.lowercased()) }
    }

    private static func registerMessageFields(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.batch("Message.deliverySummary") { parents, invocation throws(GraphQLError) in
            let (service, caller) = (invocation.context.services.deliveries, invocation.context.caller)
            let records = parents.compactMap(\.record)
            let found = try await invocation.serving { () throws(ServiceError) in
                let insights = try await service.insights(of: records, caller: caller)
                let ids = records.map { MessageID($0.id) }
                let theirs = ids.filter { insights[$0] != .own }
                let others = ids.filter { insights[$0] == .own }
                let summaries = theirs.isEmpty ? [:] : try await service.summaries(of: theirs, caller: caller)
                return summaries.merging(try await service.ownSummaries(of: others, caller: caller)) { first, _ in first
                }
            }
            return parents.map { .object(.summary(found[MessageID($0.record?.id ?? "")] ?? DeliverySummary())) }
        }
        map.pages("Message.deliveries", page)
    }

    private static func page(
        of record: Record,
        _ invocation: FieldInvocation<RequestContext>
    ) async throws(ServiceError) -> ResolvedValue<APIObject> {
        let message = MessageID(record.id)
        let token = invocation.pageToken(of: record.id)
        let after = try token.position(from: invocation.arguments["nextToken"]?.stringValue)
        let (caller, service) = (invocation.context.caller, invocation.context.services.deliveries)
        let (status, limit) = (status(invocation), try invocation.pageSize())
        let device = after?.first?.text.map { DeviceID($0) }
        let (entries, hasMore) =
            try await service.insights(of: [record], caller: caller)[message] == .all
            ? try await service.deliveries(of: message, status: status, after: device, limit: limit, caller: caller)
            : try await service.ownDeliveries(of: message, status: status, after: device, limit: limit, caller: caller)
        let next = hasMore ? entries.last.map { token.text(for: [.text($0.delivery.deviceID.text)]) } : nil
        return .object(.deliveryPage(entries, nextToken: next))
    }

    private static func registerDelivery(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.connection("DeliveryConnection", of: APIObject.delivery) { object in
            if case .deliveryPage(let entries, let token) = object { (entries, token) } else { nil }
        }
        // Publish-only tokens learn what became of a message, but not of whose devices.
        map.value("Delivery.device") { object, invocation in
            guard case .delivery(let entry) = object, let device = entry.device,
                AccessPolicy.mayManageOwnThings(invocation.context.caller, writing: false)
            else { return .null }
            return .object(.device(device))
        }
        map.value("Delivery.userId") { object, invocation in
            guard case .delivery(let entry) = object, let user = entry.userID,
                AccessPolicy.mayManageOwnThings(invocation.context.caller, writing: false)
            else { return .null }
            return .leaf(.string(user.text))
        }
        map.delivery("id") { $1.string($0.id.text) }
        map.delivery("messageId") { $1.string($0.messageID.text) }
        map.delivery("platform") { $1.string($0.platform?.rawValue ?? "none") }
        map.delivery("status") { $1.string($0.status.rawValue.uppercased()) }
        map.delivery("reason") { $1.string($0.reason?.rawValue) }
        map.delivery("attempts") { $1.int(Int64($0.attempts)) }
        map.delivery("nextAttemptAt") { $1.string($0.nextAttemptAt?.iso8601) }
        map.delivery("providerId") { $1.string($0.providerID) }
        map.delivery("updatedAt") { $1.string($0.updatedAt.iso8601) }
    }

    private static func registerSummary(in map: inout ResolverMap<APIObject, RequestContext>) {
        let fields: [(name: String, states: [DeliveryStatus])] = [
            ("waiting", [.waiting, .sending]), ("accepted", [.accepted]), ("failed", [.failed]), ("ended", [.ended]),
            ("expired", [.expired]), ("skipped", [.skipped]),
        ]
        map.leaf("DeliverySummary.state") { object, out in
            guard case .summary(let summary) = object else { return out.null() }
            switch summary.state {
            case .pending: out.string("PENDING")
            case .allAccepted: out.string("ALL_ACCEPTED")
            case .partly: out.string("PARTLY")
            case .none: out.string("NONE")
            }
        }
        for field in fields {
            map.leaf("DeliverySummary.\(field.name)") { object, out in
                guard case .summary(let summary) = object else { return out.null() }
                out.int(Int64(field.states.reduce(0) { $0 + (summary.counts[$1] ?? 0) }))
            }
        }
    }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func delivery(
        _ field: String,
        _ write: @escaping @Sendable (Delivery, inout LeafWriter) -> Void
    ) {
        leaf("Delivery.\(field)") { object, out in
            guard case .delivery(let entry) = object else { return out.null() }
            write(entry.delivery, &out)
        }
    }
}
