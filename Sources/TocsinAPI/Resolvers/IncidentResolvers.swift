import GraphQL
import JSON
import TocsinCore

/// Resolvers of incidents: what people do, and what hangs on one.
struct IncidentResolvers {
    let schema: APISchema

    func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        registerMutations(in: &map)
        registerPages(in: &map)
        registerMessage(in: &map)
        Self.registerFields(in: &map)
    }

    private func registerMutations(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Mutation.raiseIncident") { invocation throws(ServiceError) in
            let input = invocation.arguments["input"]?.objectValue ?? [:]
            var event = SenderEvent(.trigger, key: input["key"]?.stringValue)
            event.title = input["title"]?.stringValue ?? ""
            event.body = input["body"]?.stringValue ?? ""
            event.priority = input["priority"]?.intValue.map(Int.init)
            event.url = input["url"]?.stringValue
            if let labels = input["labels"]?.stringValue { event.labels = try PushInputCheck.texts(labels, "labels") }
            if let data = input["data"]?.stringValue { event.data = try PushInputCheck.texts(data, "data") }
            try PushInputCheck.check(data: event.data)
            var raised = RaisedIncident(in: TopicID(input["topicId"]?.stringValue ?? ""), event)
            raised.assignee = input["assignee"]?.stringValue
            let context = invocation.context
            return .object(.record(try await context.services.incidents.raise(raised, caller: context.caller)))
        }
        let answers: [(String, IncidentAnswer)] = [
            ("acknowledgeIncident", .acknowledge), ("unacknowledgeIncident", .unacknowledge),
            ("resolveIncident", .resolve), ("reopenIncident", .reopen),
        ]
        for (name, answer) in answers {
            map.service("Mutation.\(name)") { invocation throws(ServiceError) in
                try await Self.answer(answer, invocation)
            }
        }
        map.service("Mutation.snoozeIncident") { invocation throws(ServiceError) in
            try await Self.answer(.snooze(until: try Self.end(invocation)), invocation)
        }
        map.service("Mutation.addIncidentNote") { invocation throws(ServiceError) in
            let context = invocation.context
            let entry = try await context.services.incidents.note(
                invocation.text("text"),
                on: invocation.text("id"),
                caller: context.caller
            )
            return .object(.entry(entry))
        }
    }

    private static func answer(
        _ answer: IncidentAnswer,
        _ invocation: FieldInvocation<RequestContext>
    ) async throws(ServiceError) -> ResolvedValue<APIObject> {
        var answering = IncidentAnswering()
        answering.note = invocation.arguments["note"]?.stringValue
        answering.place = invocation.arguments["on"]?.stringValue
        answering.expectedVersion = invocation.arguments["expectedVersion"]?.intValue
        let context = invocation.context
        let incidents = context.services.incidents
        let id = invocation.text("id")
        return .object(.record(try await incidents.answer(answer, to: id, answering, caller: context.caller)))
    }

    /// When a snooze ends.
    private static func end(_ invocation: FieldInvocation<RequestContext>) throws(ServiceError) -> Timestamp {
        let minutes = invocation.arguments["minutes"]?.intValue
        let until = invocation.arguments["until"]?.stringValue
        switch (minutes, until) {
        case (let minutes?, nil):
            guard (1...43_200).contains(minutes) else {
                throw .badInput("minutes must be 1 to 43200, which are 30 days; it is \(minutes).")
            }
            return invocation.context.services.incidents.now.adding(seconds: Double(minutes) * 60)
        case (nil, let text?): return try moment(text, "until")
        case (nil, nil), (_?, _?): throw .badInput("Write either until or minutes.")
        }
    }

    private func registerPages(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.batch("Incident.alerts") { parents, invocation throws(GraphQLError) in
            try await Self.each(parents, invocation) { incident, limit, after throws(ServiceError) in
                let context = invocation.context
                let firing = invocation.arguments["state"]?.stringValue.map { $0 == "FIRING" }
                let found = try await context.services.incidents.alerts(
                    of: incident,
                    firing: firing,
                    after: after?.text ?? "",
                    limit: limit + 1,
                    caller: context.caller
                )
                let page = Array(found.prefix(limit))
                let next = found.count > limit ? page.last.map { FieldValue.text($0.fingerprint) } : nil
                try context.hold(page.reduce(0) { $0 + $1.labels.utf8.count + $1.title.utf8.count })
                return (next, { .alertPage(page, nextToken: $0) })
            }
        }
        map.batch("Incident.timeline") { parents, invocation throws(GraphQLError) in
            try await Self.each(parents, invocation) { incident, limit, after throws(ServiceError) in
                let context = invocation.context
                let found = try await context.services.incidents.entries(
                    of: incident,
                    after: after?.int ?? 0,
                    limit: limit + 1,
                    caller: context.caller
                )
                let page = Array(found.prefix(limit))
                let next = found.count > limit ? page.last.map { FieldValue.int($0.number) } : nil
                try context.hold(page.reduce(0) { $0 + $1.text.utf8.count })
                return (next, { .entryPage(page, nextToken: $0) })
            }
        }
        map.batch("Incident.messages") { parents, invocation throws(GraphQLError) in
            try await Self.each(parents, invocation) { incident, limit, after throws(ServiceError) in
                let context = invocation.context
                let found = try await context.services.incidents.messages(
                    of: incident,
                    after: after?.int ?? 0,
                    limit: limit + 1,
                    caller: context.caller
                )
                let page = Array(found.prefix(limit))
                let next = found.count > limit ? page.last?.number.map(FieldValue.int) : nil
                try context.hold(page.reduce(0) { $0 + $1.approximateBytes })
                return (next, { .page(PageResult(records: page, nextToken: $0)) })
            }
        }
    }

    /// A page: where the next one begins, and what it is with that one's token.
    private typealias Page = (next: FieldValue?, made: @Sendable (_ token: String?) -> APIObject)

    /// The page of each parent.
    private static func each(
        _ parents: some Sequence<APIObject>,
        _ invocation: FieldInvocation<RequestContext>,
        _ body: (Record, _ limit: Int, _ after: FieldValue?) async throws(ServiceError) -> Page
    ) async throws(GraphQLError) -> [ResolvedValue<APIObject>] {
        var pages: [ResolvedValue<APIObject>] = []
        for parent in parents {
            guard let incident = parent.record else {
                pages.append(.null)
                continue
            }
            let token = invocation.pageToken(of: incident.id)
            let page = try await invocation.serving { () throws(ServiceError) in
                let after = try token.position(from: invocation.arguments["nextToken"]?.stringValue)?.first
                return try await body(incident, try invocation.pageSize(), after)
            }
            pages.append(.object(page.made(page.next.map { token.text(for: [$0]) })))
        }
        return pages
    }

    private func registerMessage(in map: inout ResolverMap<APIObject, RequestContext>) {
        guard let model = schema.incidents else { return }
        map.batch("Message.incident") { parents, invocation throws(GraphQLError) in
            let ids = parents.map { $0.record?["incidentId"].text }
            let context = invocation.context
            let found = try await invocation.serving { () throws(ServiceError) in
                let found = try await context.services.models.records(
                    model,
                    ids: ids.compactMap(\.self),
                    caller: context.caller
                )
                try context.hold(found.values.reduce(0) { $0 + $1.approximateBytes })
                return found
            }
            return ids.map { id in id.flatMap { found[$0] }.map { .object(.record($0)) } ?? .null }
        }
    }

    private static func registerFields(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.alert("fingerprint") { $1.string($0.fingerprint) }
        map.alert("state") { $1.string($0.isFiring ? "FIRING" : "RESOLVED") }
        map.alert("title") { $1.string($0.title) }
        map.alert("labels") { $1.string($0.labels) }
        map.alert("url") { $1.string($0.url) }
        map.alert("startsAt") { $1.string($0.startsAt?.iso8601) }
        map.alert("endsAt") { $1.string($0.endsAt?.iso8601) }
        map.entry("number") { $1.int($0.number) }
        map.entry("at") { $1.string($0.at.iso8601) }
        map.entry("change") { $1.string($0.change.rawValue) }
        map.entry("by") { $1.string($0.actor.name) }
        map.entry("via") { $1.string($0.actor.via.rawValue) }
        map.entry("on") { $1.string($0.actor.place) }
        map.entry("text") { $1.string($0.text) }
        map.entry("messageId") { $1.string($0.messageID?.text) }
        map.connection("IncidentAlertConnection", of: APIObject.alert) { object in
            if case .alertPage(let alerts, let token) = object { (alerts, token) } else { nil }
        }
        map.connection("IncidentEntryConnection", of: APIObject.entry) { object in
            if case .entryPage(let entries, let token) = object { (entries, token) } else { nil }
        }
    }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func alert(
        _ field: String,
        _ write: @escaping @Sendable (StoredAlert, inout LeafWriter) -> Void
    ) {
        leaf("IncidentAlert.\(field)") { object, out in
            guard case .alert(let alert) = object else { return out.null() }
            write(alert, &out)
        }
    }

    fileprivate mutating func entry(
        _ field: String,
        _ write: @escaping @Sendable (IncidentEntry, inout LeafWriter) -> Void
    ) {
        leaf("IncidentEntry.\(field)") { object, out in
            guard case .entry(let entry) = object else { return out.null() }
            write(entry, &out)
        }
    }
}
