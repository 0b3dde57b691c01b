import JSON
import TocsinCore

/// A payload as a browser's service worker gets it, and the headers that go with it (RFC 8030 §5).
///
/// `notification` is what `showNotification(title, options)` takes. With a link the message also is a declarative push,
/// which browsers that know it show without a service worker.
struct WebPushMessage: Sendable {
    let template: BodyTemplate
    let urgency: String
    /// Replaces a push with the same topic that waits for the browser: 32 characters of base 64 for URLs (RFC 8030 §5.4).
    let topic: String

    /// No service must take a larger body (RFC 8291 §4), of which encryption takes header, end mark and tag.
    static let maximumPlaintextBytes = PushPayload.maximumBytes - 86 - 1 - 16

    /// Builds the largest message that fits; `startingWith` asks for less after a 413.
    init?(_ payload: PushPayload, startingWith detail: TextFitting.Detail = .everything) {
        urgency = Self.urgency(payload)
        topic = DeliveryIdentity.uuid(of: payload.topicID.text, payload.collapseKey).filter { $0 != "-" }
        let fitted = TextFitting.fit(title: payload.title, body: payload.body, startingWith: detail) { texts, detail in
            let template = Self.template(payload, texts, detail)
            return template.countedBytes <= Self.maximumPlaintextBytes ? template : nil
        }
        guard let fitted else { return nil }
        template = fitted
    }

    /// What the browser's battery is worth (RFC 8030 §5.3).
    private static func urgency(_ payload: PushPayload) -> String {
        if payload.options.silent { return "low" }
        return switch payload.priority {
        case ...1: "very-low"
        case 2: "low"
        case 3: "normal"
        default: "high"
        }
    }

    private static func template(
        _ payload: PushPayload,
        _ texts: TextFitting.Texts,
        _ detail: TextFitting.Detail
    ) -> BodyTemplate {
        let link = detail == .everything ? payload.url.flatMap { $0.hasPrefix("https://") ? $0 : nil } : nil
        var template = BodyTemplate()
        template.append { writer in
            writer.raw("{")
            if link != nil, !payload.options.silent { writer.raw("\"web_push\":8030,") }
            if let badge = payload.options.badge { writer.raw(bytes: Array("\"app_badge\":\(badge),".utf8)) }
            writer.raw("\"silent\":")
            writer.bool(payload.options.silent)
            writer.raw(",\"notification\":{")
            for (index, member) in notification(payload, texts, link).enumerated() {
                if index > 0 { writer.raw(",") }
                writer.string(member.key)
                writer.raw(":")
                writer.value(member.value)
            }
            writer.raw(",\"data\":{\"deliveryId\":")
        }
        template.appendGap(.deliveryID)
        template.append { writer in
            for member in data(payload, detail) {
                writer.raw(",")
                writer.string(member.key)
                writer.raw(":")
                writer.value(member.value)
            }
            writer.raw("}}}")
        }
        return template
    }

    private static func notification(
        _ payload: PushPayload,
        _ texts: TextFitting.Texts,
        _ link: String?
    ) -> JSONObject {
        var notification: JSONObject = ["title": .string(texts.title), "body": .string(texts.body)]
        notification["tag"] = .string(payload.collapseKey)
        if let link { notification["navigate"] = .string(link) }
        let sounds = payload.options.sound.map { !$0.isEmpty && $0 != "none" } ?? (payload.priority >= 3)
        if !sounds { notification["silent"] = true }
        if payload.priority == 5 { notification["requireInteraction"] = true }
        return notification
    }

    private static func data(_ payload: PushPayload, _ detail: TextFitting.Detail) -> JSONObject {
        var data: JSONObject = [
            "messageId": .string(payload.messageID.text), "topicId": .string(payload.topicID.text),
            "number": .int(payload.number),
        ]
        guard detail == .everything else { return data }
        data["type"] = .int(payload.type)
        data["priority"] = .int(Int64(payload.priority))
        data["createdAt"] = .string(payload.createdAt)
        if let url = payload.url { data["url"] = .string(url) }
        if let category = payload.category { data["category"] = .string(category) }
        if !payload.data.isEmpty { data["data"] = .object(payload.data) }
        return data
    }
}
