import JSON
import TocsinCore

/// Makes an event of the values that its members have become; `bounded` cuts it afterwards.
struct EventMaking {
    let values: [String: JSONValue]

    func event(_ trouble: inout TemplateTrouble) -> SenderEvent {
        var event = SenderEvent(action(&trouble))
        guard event.action != .ignore else { return event }
        event.key = text("key")
        event.title = text("title") ?? ""
        event.body = text("body") ?? ""
        if event.title.trimmed.isEmpty, event.body.trimmed.isEmpty { trouble.note("is empty", of: "title") }
        event.priority = priority(&trouble)
        event.url = text("url")
        event.image = text("image")
        event.category = text("category")
        event.messageKey = text("messageKey")
        event.collapseKey = text("collapseKey")
        event.labels = texts("labels", &trouble)
        event.data = texts("data", &trouble)
        event.links = links
        event.occurredAt = time("occurredAt", &trouble)
        event.alerts = (values["alerts"]?.arrayValue ?? []).map(Self.alert)
        event.truncatedAlerts = Int(clamping: values["truncatedAlerts"]?.intValue ?? 0)
        if event.key == nil, event.action == .resolve || event.action == .acknowledge {
            trouble.note(
                "is empty, and nothing can be told from others without it. It became a plain message",
                of: "key"
            )
            event.action = .log
        }
        return event
    }

    private func action(_ trouble: inout TemplateTrouble) -> SenderEvent.Action {
        let word = text("action") ?? ""
        if let action = SenderEvent.Action(rawValue: word.lowercased()) { return action }
        let known = SenderEvent.Action.allCases.map(\.rawValue).joined(separator: ", ")
        trouble.note("became \"\(word.prefix(64))\", which is none of \(known)", of: "action")
        trouble.isOfAction = true
        return .log
    }

    private func priority(_ trouble: inout TemplateTrouble) -> Int? {
        if let value = values["priority"], !value.isEmpty {
            let number = value.intValue ?? value.stringValue.flatMap { Int64($0) }
            if let number, (1...5).contains(number) { return Int(number) }
            trouble.note("became \"\(value.plainText.prefix(64))\", which is none of 1 to 5", of: "priority")
        }
        if let word = text("severity") {
            return trouble.severity.priority(of: word)
        }
        return nil
    }

    /// nil: absent or empty.
    private func text(_ name: String) -> String? {
        guard let text = values[name]?.plainText.trimmed, !text.isEmpty else { return nil }
        return text
    }

    private func time(_ name: String, _ trouble: inout TemplateTrouble) -> Timestamp? {
        guard let value = values[name], !value.isEmpty else { return nil }
        if let moment = TimeText.moment(value, .zone(.utc)) { return moment }
        trouble.note("became \"\(value.plainText.prefix(64))\", which is no time. Write {… | time \"UTC\"}", of: name)
        return nil
    }

    private func texts(_ name: String, _ trouble: inout TemplateTrouble) -> [String: String] {
        guard let value = values[name], !value.isEmpty else { return [:] }
        guard case .object(let members) = value else {
            trouble.note("is no object", of: name)
            return [:]
        }
        return Self.texts(members)
    }

    private static func texts(_ members: JSONObject) -> [String: String] {
        var texts: [String: String] = [:]
        for member in members where !member.value.isEmpty { texts[member.key] = member.value.plainText }
        return texts
    }

    private var links: [SenderEvent.Link] {
        var links: [SenderEvent.Link] = []
        for link in values["links"]?.arrayValue ?? [] {
            guard let url = link["url"]?.stringValue ?? link.stringValue, !url.isEmpty else { continue }
            links.append(SenderEvent.Link(text: link["text"]?.plainText ?? url, url: url))
        }
        return links
    }

    private static func alert(_ value: JSONValue) -> SenderEvent.Alert {
        let state = value["firing"] ?? true
        let title = value["title"]?.plainText ?? ""
        var alert = SenderEvent.Alert(
            fingerprint: value["fingerprint"]?.plainText ?? title,
            isFiring: state.boolValue ?? !["false", "0", "", "resolved", "ok"].contains(state.plainText.lowercased()),
            title: title,
            labels: texts(value["labels"]?.objectValue ?? [:])
        )
        alert.url = value["url"]?.stringValue
        alert.startsAt = TimeText.moment(value["startsAt"] ?? .null, .zone(.utc))
        alert.endsAt = TimeText.moment(value["endsAt"] ?? .null, .zone(.utc))
        return alert
    }
}
