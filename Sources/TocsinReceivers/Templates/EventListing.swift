package import JSON
package import TocsinCore

/// Events as JSON for people: what is empty is left out.
package enum EventListing {
    /// The members of an event, by the names that templates give them.
    package static func json(_ event: SenderEvent) -> JSONValue {
        var members: JSONObject = ["action": .string(event.action.rawValue)]
        func add(_ name: String, _ text: String?) {
            if let text, !text.isEmpty { members[name] = .string(text) }
        }
        add("key", event.key)
        add("title", event.title)
        add("body", event.body)
        if let priority = event.priority { members["priority"] = .int(Int64(priority)) }
        add("url", event.url)
        if !event.labels.isEmpty { members["labels"] = texts(event.labels) }
        if !event.data.isEmpty { members["data"] = texts(event.data) }
        if !event.links.isEmpty {
            members["links"] = .array(event.links.map { ["text": .string($0.text), "url": .string($0.url)] })
        }
        add("image", event.image)
        add("category", event.category)
        add("occurredAt", event.occurredAt?.iso8601)
        if !event.alerts.isEmpty { members["alerts"] = .array(event.alerts.map(alert)) }
        if event.truncatedAlerts > 0 { members["truncatedAlerts"] = .int(Int64(event.truncatedAlerts)) }
        add("messageKey", event.messageKey)
        add("collapseKey", event.collapseKey)
        add("dueAt", event.dueAt?.iso8601)
        if !event.isPushed { members["isPushed"] = false }
        if !event.buttons.isEmpty { members["buttons"] = .array(event.buttons.map(button)) }
        return .object(members)
    }

    private static func texts(_ texts: [String: String]) -> JSONValue {
        .object(JSONObject(texts.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
    }

    private static func alert(_ alert: SenderEvent.Alert) -> JSONValue {
        var members: JSONObject = [
            "fingerprint": .string(alert.fingerprint), "firing": .bool(alert.isFiring), "title": .string(alert.title),
        ]
        if !alert.labels.isEmpty { members["labels"] = texts(alert.labels) }
        if let url = alert.url { members["url"] = .string(url) }
        if let time = alert.startsAt { members["startsAt"] = .string(time.iso8601) }
        if let time = alert.endsAt { members["endsAt"] = .string(time.iso8601) }
        return .object(members)
    }

    private static func button(_ button: SenderEvent.Button) -> JSONValue {
        var members: JSONObject = ["id": .string(button.id), "title": .string(button.title)]
        if let url = button.url { members["url"] = .string(url) }
        return .object(members)
    }
}
