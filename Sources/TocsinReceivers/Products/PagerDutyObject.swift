import JSON
import TocsinCore

/// One event of PagerDuty's, read member by member.
struct PagerDutyObject {
    private let object: JSONObject
    private let payload: JSONObject
    /// Why it cannot be taken.
    private(set) var problems: [String] = []
    /// What the real PagerDuty would have refused.
    private(set) var notes: [String] = []

    init(_ object: JSONObject) {
        self.object = object
        payload = object["payload"]?.objectValue ?? [:]
    }

    /// The event; nil: `problems` say why.
    mutating func event() -> SenderEvent? {
        let action = object.filled("event_action").flatMap(SenderEvent.Action.init(rawValue:))
        guard let action, [.trigger, .acknowledge, .resolve].contains(action) else {
            problems.append("'event_action' must be one of trigger, acknowledge, resolve")
            return nil
        }
        var event = SenderEvent(action, key: object["dedup_key"]?.senderText)
        if let key = event.key, key.unicodeScalars.count > 255 {
            problems.append("'dedup_key' is longer than 255 characters")
        }
        if action != .trigger, (event.key ?? "").isEmpty { problems.append("'dedup_key' is missing or blank") }
        if action == .trigger, payload.filled("summary") == nil {
            problems.append("'payload.summary' is missing or blank")
        }
        guard problems.isEmpty else { return nil }
        fill(&event)
        if action == .trigger, event.labels["source"] == nil {
            event.labels["source"] = "unknown"
            notes.append("'payload.source' is missing: PagerDuty itself refuses such an event.")
        }
        return event
    }

    /// A change event: a plain message.
    mutating func change() -> SenderEvent? {
        guard payload.filled("summary") != nil else {
            problems.append("'payload.summary' is missing or blank")
            return nil
        }
        var event = SenderEvent(.log)
        fill(&event)
        return event
    }

    /// The priority of `payload.severity`.
    func priority(_ severity: inout SeverityReader) -> Int? { severity.priority(of: payload.filled("severity")) }

    private func fill(_ event: inout SenderEvent) {
        event.title = payload.filled("summary") ?? ""
        event.occurredAt = SenderTime.read(payload["timestamp"])
        for name in ["source", "component", "group", "class"] { event.labels[name] = payload.filled(name) }
        (event.body, event.data) = details
        event.links = links
        event.url = SenderURL.checked(object.filled("client_url")) ?? event.links.first?.url
        let images = object["images"]?.arrayValue ?? []
        event.image = images.prefix(100).lazy.compactMap { SenderURL.secure($0.filled("src")) }.first
    }

    /// A line a member, and the members.
    private var details: (String, [String: String]) {
        guard let value = payload["custom_details"], !value.isNull else { return ("", [:]) }
        guard let members = value.objectValue else { return (value.compactText.cut(toBytes: 4096, mark: "…"), [:]) }
        let lines = members.lazy.prefix(100).filter { !$0.value.compactText.isEmpty }
            .map { "\($0.key): \($0.value.compactText.trimmed)" }
        return (lines.joined(separator: "\n").cut(toBytes: 4096, mark: "…"), members.senderTexts)
    }

    private var links: [SenderEvent.Link] {
        var links: [SenderEvent.Link] = []
        if let url = SenderURL.checked(object.filled("client_url")) {
            links.append(SenderEvent.Link(text: object.filled("client") ?? "", url: url))
        }
        for link in object["links"]?.arrayValue?.prefix(100) ?? [] {
            guard let url = SenderURL.checked(link.filled("href")) else { continue }
            links.append(SenderEvent.Link(text: link.filled("text") ?? "", url: url))
        }
        for image in object["images"]?.arrayValue?.prefix(100) ?? [] {
            guard let url = SenderURL.checked(image.filled("href")) else { continue }
            links.append(SenderEvent.Link(text: image.filled("alt") ?? "", url: url))
        }
        return links
    }
}
