import GraphQL
import JSON
import TocsinCore

/// Resolvers of `previewReceiver`: what a sender's request would become.
enum PreviewResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.previewReceiver") { invocation throws(ServiceError) in
            let context = invocation.context
            guard AccessPolicy.mayManageOwnThings(context.caller, writing: false) else { throw .unauthorized }
            guard let previews = context.services.previews else {
                throw .badInput("This server has no receivers.")
            }
            var asked = try request(invocation)
            let preview: ReceiverPreview
            if let id = invocation.arguments["integrationId"]?.stringValue {
                guard let integrations = context.services.integrations,
                    let record = try await integrations.changeable(id, caller: context.caller)
                else { throw .unauthorized }
                asked.integration = record
                if asked.kind == .template, asked.receiver == nil, asked.template == nil {
                    (asked.receiver, asked.template) = (record["receiver"].text, template(of: record))
                }
                preview = try await integrations.judged(previews.preview(asked), of: record, caller: context.caller)
            } else {
                preview = previews.preview(asked)
            }
            try context.hold(preview.approximateBytes)
            return .object(.receiverPreview(preview))
        }
        map.preview("status") { $1.int(Int64($0.status)) }
        map.preview("answer") { $1.string($0.answer) }
        map.value("ReceiverPreview.events") { object, _ in
            guard case .receiverPreview(let preview) = object else { return .null }
            return .objects(
                preview.events.enumerated().map { index, event in
                    .previewEvent(event, preview.topics.indices.contains(index) ? preview.topics[index] : nil)
                }
            )
        }
        map.value("ReceiverPreview.problems") { object, _ in
            guard case .receiverPreview(let preview) = object else { return .null }
            return .list(preview.problems.map { .leaf(.string($0)) })
        }
        map.event("action") { $1.string($0.action.rawValue) }
        map.event("key") { $1.string($0.key) }
        map.event("title") { $1.string($0.title) }
        map.event("body") { $1.string($0.body) }
        map.event("priority") { event, out in
            guard let priority = event.priority else { return out.null() }
            out.int(Int64(priority))
        }
        map.event("url") { $1.string($0.url) }
        map.leaf("PreviewEvent.topicId") { object, out in
            guard case .previewEvent(_, let topic?) = object else { return out.null() }
            out.string(topic.text)
        }
        map.event("labels") { $1.string(json($0.labels)) }
        map.event("data") { $1.string(json($0.data)) }
    }

    /// The template that an integration has of its own.
    private static func template(of integration: Record) -> String? {
        switch integration["template"] {
        case .text(let text), .json(let text): text
        default: nil
        }
    }

    /// An object of texts; nil where there are none.
    private static func json(_ texts: [String: String]) -> String? {
        guard !texts.isEmpty else { return nil }
        let members = texts.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) }
        return JSONValue.object(JSONObject(members)).serializedString()
    }

    private static func request(
        _ invocation: FieldInvocation<RequestContext>
    ) throws(ServiceError) -> PreviewedRequest {
        let checks = invocation.context.services.checks
        func texts(_ name: String) throws(ServiceError) -> [String: String] {
            guard let text = invocation.arguments[name]?.stringValue else { return [:] }
            try checks.checkText(text, field: name, maximumBytes: PreviewedRequest.maximumTextBytes)
            return try PushInputCheck.texts(text, name)
        }
        let body = invocation.text("body")
        try checks.checkText(body, field: "body", maximumBytes: PreviewedRequest.maximumBodyBytes)
        guard let kind = Integration.Kind(rawValue: invocation.text("kind")) else {
            throw .badInput("There is no kind of this name.")
        }
        let receiver = invocation.arguments["receiver"]?.stringValue
        let template = invocation.arguments["template"]?.stringValue
        guard kind == .template || (receiver == nil && template == nil) else {
            throw .badInput("receiver and template are for the kind TEMPLATE.")
        }
        var request = PreviewedRequest(kind: kind, receiver: receiver, template: template, body: body)
        (request.headers, request.query) = (try texts("headers"), try texts("query"))
        return request
    }
}

extension ReceiverPreview {
    /// What it takes in memory, about.
    fileprivate var approximateBytes: Int {
        let texts = [answer.utf8.count] + problems.map(\.utf8.count)
        let ofEvents = events.map { event in
            let members =
                event.labels.map { $0.key.utf8.count + $0.value.utf8.count }
                + event.data.map { $0.key.utf8.count + $0.value.utf8.count }
            return event.title.utf8.count + event.body.utf8.count + members.reduce(0, +)
        }
        return (texts + ofEvents).reduce(0, +)
    }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func preview(
        _ field: String,
        _ write: @escaping @Sendable (ReceiverPreview, inout LeafWriter) -> Void
    ) {
        leaf("ReceiverPreview.\(field)") { object, out in
            guard case .receiverPreview(let preview) = object else { return out.null() }
            write(preview, &out)
        }
    }

    fileprivate mutating func event(
        _ field: String,
        _ write: @escaping @Sendable (SenderEvent, inout LeafWriter) -> Void
    ) {
        leaf("PreviewEvent.\(field)") { object, out in
            guard case .previewEvent(let event, _) = object else { return out.null() }
            write(event, &out)
        }
    }
}
