import GraphQL
import JSON
import TocsinCore

/// Resolvers of messages that are made later.
enum ScheduledMessageResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        registerRoots(in: &map)
        registerFields(in: &map)
    }

    private static func registerRoots(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.getScheduledMessage") { invocation throws(ServiceError) in
            let context = invocation.context
            let found = try await context.services.scheduledMessages.message(
                invocation.text("id"),
                caller: context.caller
            )
            return found.map { .object(.scheduledMessage($0)) } ?? .null
        }
        map.service("Query.listScheduledMessages") { invocation throws(ServiceError) in try await page(invocation) }
        map.service("Mutation.createScheduledMessage") { invocation throws(ServiceError) in
            let (context, input) = (invocation.context, invocation.arguments["input"]?.objectValue ?? [:])
            var plan = ScheduledMessage.Plan()
            try change(&plan, by: input)
            let message = try await context.services.scheduledMessages.create(
                id: input["id"]?.stringValue,
                plan,
                isEnabled: input["enabled"]?.boolValue ?? true,
                caller: context.caller
            )
            return .object(.scheduledMessage(message))
        }
        map.service("Mutation.updateScheduledMessage") { invocation throws(ServiceError) in
            let (context, input) = (invocation.context, invocation.arguments["input"]?.objectValue ?? [:])
            var probe = ScheduledMessage.Plan()
            try change(&probe, by: input)
            let message = try await context.services.scheduledMessages.update(
                input["id"]?.stringValue ?? "",
                caller: context.caller
            ) { message in
                // It was tried above.
                try? change(&message.plan, by: input)
                message.isEnabled = input["enabled"]?.boolValue ?? message.isEnabled
            }
            return .object(.scheduledMessage(message))
        }
        map.service("Mutation.deleteScheduledMessage") { invocation throws(ServiceError) in
            let context = invocation.context
            let id = invocation.arguments["input"]?["id"]?.stringValue ?? ""
            let message = try await context.services.scheduledMessages.delete(id, caller: context.caller)
            return .object(.scheduledMessage(message))
        }
    }

    private static func page(
        _ invocation: FieldInvocation<RequestContext>
    ) async throws(ServiceError) -> ResolvedValue<APIObject> {
        let (context, token) = (invocation.context, invocation.pageToken)
        let after = try token.position(from: invocation.arguments["nextToken"]?.stringValue)
        let (messages, hasMore) = try await context.services.scheduledMessages.messages(
            after: after?.first?.text ?? "",
            limit: try invocation.pageSize(),
            caller: context.caller
        )
        try context.hold(messages.reduce(0) { $0 + ($1.plan.input?.utf8.count ?? 0) })
        let next = hasMore ? messages.last.map { token.text(for: [.text($0.id)]) } : nil
        return .object(.scheduledMessagePage(messages, nextToken: next))
    }

    /// Puts the members of an input into a plan; those that are left out stay.
    private static func change(_ plan: inout ScheduledMessage.Plan, by input: JSONObject) throws(ServiceError) {
        for (name, field) in texts where input[name] != nil { plan[keyPath: field] = input[name]?.stringValue }
        if let topic = input["topicId"] { plan.topicID = topic.stringValue.map { TopicID($0) } }
        for (name, field) in moments {
            guard let value = input[name] else { continue }
            if let text = value.stringValue {
                plan[keyPath: field] = try moment(text, name)
            } else {
                plan[keyPath: field] = nil
            }
        }
    }

    private static let texts: [(String, any WritableKeyPath<ScheduledMessage.Plan, String?> & Sendable)] = [
        ("name", \.name), ("input", \.input), ("cron", \.cron), ("timeZone", \.timeZone), ("webhook", \.webhook),
    ]
    private static let moments: [(String, any WritableKeyPath<ScheduledMessage.Plan, Timestamp?> & Sendable)] = [
        ("dueAt", \.dueAt), ("until", \.until),
    ]

    private static func registerFields(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.scheduled("id") { $1.string($0.id) }
        map.scheduled("name") { $1.string($0.plan.name) }
        map.scheduled("topicId") { $1.string($0.plan.topicID?.text) }
        map.scheduled("input") { $1.string($0.plan.input) }
        map.scheduled("dueAt") { $1.string($0.plan.dueAt?.iso8601) }
        map.scheduled("cron") { $1.string($0.plan.cron) }
        map.scheduled("timeZone") { $1.string($0.plan.timeZone) }
        map.scheduled("until") { $1.string($0.plan.until?.iso8601) }
        map.scheduled("webhook") { $1.string($0.plan.webhook) }
        map.scheduled("enabled") { $1.bool($0.isEnabled) }
        map.scheduled("disabledReason") { $1.string($0.disabledReason) }
        map.scheduled("lastMessageId") { $1.string($0.lastMessageID?.text) }
        map.scheduled("lastAt") { $1.string($0.lastAt?.iso8601) }
        map.scheduled("missed") { $1.int(Int64($0.missed)) }
        map.scheduled("nextAt") { $1.string($0.isEnabled ? $0.nextAt?.iso8601 : nil) }
        map.scheduled("owner") { $1.string($0.owner.username) }
        map.scheduled("createdAt") { $1.string($0.createdAt.iso8601) }
        map.scheduled("updatedAt") { $1.string($0.updatedAt.iso8601) }
        map.connection("ModelScheduledMessageConnection", of: APIObject.scheduledMessage) { object in
            if case .scheduledMessagePage(let messages, let token) = object { (messages, token) } else { nil }
        }
    }
}

/// The moment that an argument names.
func moment(_ text: String, _ field: String) throws(ServiceError) -> Timestamp {
    guard let moment = Timestamp(awsDateTime: text) else {
        throw .badInput(
            "\(field) \"\(text.prefix(64))\" needs an offset: write Z for UTC, such as 2026-11-30T08:00:00Z, or one like +01:00."
        )
    }
    return moment
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func scheduled(
        _ field: String,
        _ write: @escaping @Sendable (ScheduledMessage, inout LeafWriter) -> Void
    ) {
        leaf("ScheduledMessage.\(field)") { object, out in
            guard case .scheduledMessage(let message) = object else { return out.null() }
            write(message, &out)
        }
    }
}
