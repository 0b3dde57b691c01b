import JSON
import TocsinCore

/// A payload as Apple wants it: body and headers (push-providers sections 3 and 6).
struct APNsNotification: Sendable {
    /// Apple's push types that we use.
    enum PushType: String, Sendable {
        case alert, background
    }

    let template: BodyTemplate
    let pushType: PushType
    let priority: Int
    let collapseID: String

    /// Builds the largest notification that fits; `startingWith` asks for less after a 413.
    init?(_ payload: PushPayload, startingWith detail: TextFitting.Detail = .everything) {
        let isShown = !payload.options.silent
        pushType = isShown || payload.options.badge != nil ? .alert : .background
        priority = isShown && payload.priority >= 3 ? 10 : 5
        collapseID = payload.collapseKey
        let fitted = TextFitting.fit(title: payload.title, body: payload.body, startingWith: detail) { texts, detail in
            let template = Self.template(payload, texts, detail)
            return template.countedBytes <= PushPayload.maximumBytes ? template : nil
        }
        guard let fitted else { return nil }
        template = fitted
    }

    private static func template(
        _ payload: PushPayload,
        _ texts: TextFitting.Texts,
        _ detail: TextFitting.Detail
    ) -> BodyTemplate {
        var template = BodyTemplate()
        template.append { writer in
            writer.raw("{\"aps\":")
            writer.value(.object(aps(payload, texts)))
            for member in ownKeys(payload, detail) {
                writer.raw(",")
                writer.string(member.key)
                writer.raw(":")
                writer.value(member.value)
            }
            writer.raw(",\"deliveryId\":")
        }
        template.appendGap(.deliveryID)
        template.append { $0.raw("}") }
        return template
    }

    private static func aps(_ payload: PushPayload, _ texts: TextFitting.Texts) -> JSONObject {
        let options = payload.options
        if options.silent {
            return options.badge.map { ["badge": .int($0)] } ?? ["content-available": 1]
        }
        var alert: JSONObject = ["title": .string(texts.title)]
        if !texts.body.isEmpty { alert["body"] = .string(texts.body) }
        var aps: JSONObject = ["alert": .object(alert)]
        if let badge = options.badge { aps["badge"] = .int(badge) }
        if let sound = sound(payload) { aps["sound"] = .string(sound) }
        aps["thread-id"] = .string(options.threadID ?? payload.topicID.text)
        if let category = payload.category { aps["category"] = .string(category) }
        if options.mutableContent { aps["mutable-content"] = 1 }
        aps["interruption-level"] = .string(interruptionLevel(payload))
        return aps
    }

    /// The least important messages make no sound unless asked to.
    private static func sound(_ payload: PushPayload) -> String? {
        guard let sound = payload.options.sound else { return payload.priority >= 3 ? "default" : nil }
        return sound.isEmpty || sound == "none" ? nil : sound
    }

    /// `critical` needs an entitlement that no device has told us of, so priority 5 alone does not ask for it.
    private static func interruptionLevel(_ payload: PushPayload) -> String {
        switch payload.options.interruptionLevel {
        case "passive": "passive"
        case "active": "active"
        case "time-sensitive", "timeSensitive": "time-sensitive"
        case "critical": "critical"
        default: payload.priority <= 2 ? "passive" : payload.priority == 3 ? "active" : "time-sensitive"
        }
    }

    private static func ownKeys(_ payload: PushPayload, _ detail: TextFitting.Detail) -> JSONObject {
        var keys: JSONObject = [
            "messageId": .string(payload.messageID.text), "topicId": .string(payload.topicID.text),
            "number": .int(payload.number),
        ]
        guard detail == .everything else { return keys }
        keys["type"] = .int(payload.type)
        keys["createdAt"] = .string(payload.createdAt)
        if let url = payload.url { keys["url"] = .string(url) }
        if !payload.data.isEmpty { keys["data"] = .object(payload.data) }
        return keys
    }
}
