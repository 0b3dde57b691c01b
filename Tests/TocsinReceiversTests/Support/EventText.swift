import JSON
import TocsinCore

/// Events as JSON that people can compare: nothing that is empty or usual stands in it.
enum EventText {
    static func json(_ event: SenderEvent) -> JSONValue {
        var object: JSONObject = ["action": .string(event.action.rawValue)]
        object["key"] = event.key.map(JSONValue.string)
        object["title"] = .string(event.title)
        if !event.body.isEmpty { object["body"] = .string(event.body) }
        object["priority"] = event.priority.map { .int(Int64($0)) }
        object["url"] = event.url.map(JSONValue.string)
        if !event.labels.isEmpty { object["labels"] = texts(event.labels) }
        if !event.data.isEmpty { object["data"] = texts(event.data) }
        if !event.links.isEmpty { object["links"] = .array(event.links.map { .string("\($0.text): \($0.url)") }) }
        object["image"] = event.image.map(JSONValue.string)
        object["category"] = event.category.map(JSONValue.string)
        object["occurredAt"] = event.occurredAt.map { .string($0.iso8601) }
        if !event.alerts.isEmpty { object["alerts"] = .array(event.alerts.map(alert)) }
        if event.truncatedAlerts > 0 { object["truncated"] = .int(Int64(event.truncatedAlerts)) }
        object["messageKey"] = event.messageKey.map(JSONValue.string)
        object["collapseKey"] = event.collapseKey.map(JSONValue.string)
        object["dueAt"] = event.dueAt.map { .string($0.iso8601) }
        object["resolveAfterSeconds"] = event.resolveAfterSeconds.map { .int(Int64($0)) }
        if !event.isPushed { object["isPushed"] = false }
        if !event.buttons.isEmpty { object["buttons"] = .array(event.buttons.map(button)) }
        return .object(object)
    }

    private static func texts(_ texts: [String: String]) -> JSONValue {
        .object(JSONObject(texts.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
    }

    private static func alert(_ alert: SenderEvent.Alert) -> JSONValue {
        let times = [alert.startsAt, alert.endsAt].map { $0?.iso8601 ?? "-" }.joined(separator: " to ")
        let state = alert.isFiring ? "firing" : "resolved"
        return .string("\(alert.fingerprint) \(state) \(times): \(alert.title) \(alert.url ?? "-")")
    }

    private static func button(_ button: SenderEvent.Button) -> JSONValue {
        let call = button.call.map { " calls \($0.method) \($0.url)" } ?? ""
        return .string("\(button.id): \(button.title) \(button.url ?? "-")\(call)")
    }
}
