import JSON
import TocsinCore

/// A payload as FCM HTTP v1 wants it (push-providers sections 5 and 6).
///
/// It has no `collapse_key`, because collapsible messages are throttled; on the screen the tag replaces.
struct FCMMessage: Sendable {
    let template: BodyTemplate

    /// Builds the largest message that fits; `startingWith` asks for less after a refusal for its size.
    init?(
        _ payload: PushPayload,
        platform: PushPlatform,
        lifeSeconds: Int64,
        startingWith detail: TextFitting.Detail = .everything
    ) {
        let draft = FCMDraft(payload: payload, platform: platform, lifeSeconds: max(0, min(lifeSeconds, 2_419_200)))
        let fitted = TextFitting.fit(title: payload.title, body: payload.body, startingWith: detail) { texts, detail in
            let template = draft.template(texts, detail)
            return template.countedBytes <= PushPayload.maximumBytes ? template : nil
        }
        guard let fitted else { return nil }
        template = fitted
    }
}

/// The parts of a message, before it is known how much of it fits.
private struct FCMDraft {
    let payload: PushPayload
    let platform: PushPlatform
    let lifeSeconds: Int64

    private var isShown: Bool { !payload.options.silent }
    private var isUrgent: Bool { isShown && payload.priority >= 3 }

    func template(_ texts: TextFitting.Texts, _ detail: TextFitting.Detail) -> BodyTemplate {
        var template = BodyTemplate()
        template.append { $0.raw("{\"message\":{") }
        template.appendGap(.token)
        template.append { $0.raw(",\"data\":{\"deliveryId\":") }
        template.appendGap(.deliveryID)
        template.append { writer in
            for member in data(texts, detail) { write(member.key, member.value, to: &writer) }
            writer.raw("}")
            if isShown { write("notification", .object(notification(texts)), to: &writer) }
            switch platform {
            case .web: write("webpush", .object(webPush), to: &writer)
            case .android, .ios: write("android", .object(android), to: &writer)
            }
            writer.raw("}}")
        }
        return template
    }

    private func write(_ key: String, _ value: JSONValue, to writer: inout JSONWriter) {
        writer.raw(",")
        writer.string(key)
        writer.raw(":")
        writer.value(value)
    }

    /// Texts only, as FCM demands; our keys win over the publisher's.
    private func data(_ texts: TextFitting.Texts, _ detail: TextFitting.Detail) -> JSONObject {
        var data: JSONObject = [
            "messageId": .string(payload.messageID.text), "topicId": .string(payload.topicID.text),
            "number": .string(String(payload.number)),
        ]
        if !isShown {
            data["title"] = .string(texts.title)
            data["body"] = .string(texts.body)
        }
        guard detail == .everything else { return data }
        data["type"] = .string(String(payload.type))
        data["createdAt"] = .string(payload.createdAt)
        if let url = payload.url { data["url"] = .string(url) }
        if let category = payload.category { data["category"] = .string(category) }
        for member in payload.data where !Self.isReserved(member.key) && data[member.key] == nil {
            data[member.key] = .string(member.value.stringValue ?? member.value.serializedString())
        }
        return data
    }

    /// Keys FCM refuses (older lists refuse all that begin with `gcm`), and the one that the template fills.
    private static func isReserved(_ key: String) -> Bool {
        key.isEmpty || key == "from" || key == "message_type" || key == "deliveryId"
            || key.hasPrefix("google.") || key.hasPrefix("gcm")
    }

    private func notification(_ texts: TextFitting.Texts) -> JSONObject {
        var notification: JSONObject = ["title": .string(texts.title)]
        if !texts.body.isEmpty { notification["body"] = .string(texts.body) }
        return notification
    }

    private var android: JSONObject {
        var android: JSONObject = [
            "priority": isUrgent ? "high" : "normal", "ttl": .string("\(lifeSeconds)s"),
        ]
        guard isShown else { return android }
        var notification: JSONObject = [
            "tag": .string(payload.collapseKey), "notification_priority": .string(notificationPriority),
        ]
        if let channel = payload.options.channelID { notification["channel_id"] = .string(channel) }
        if let sound = sound { notification["sound"] = .string(sound) }
        if let category = payload.category { notification["click_action"] = .string(category) }
        if let badge = payload.options.badge { notification["notification_count"] = .int(badge) }
        android["notification"] = .object(notification)
        return android
    }

    private var sound: String? {
        guard let sound = payload.options.sound else { return payload.priority >= 3 ? "default" : nil }
        return sound.isEmpty || sound == "none" ? nil : sound
    }

    private var notificationPriority: String {
        switch payload.priority {
        case ...1: "PRIORITY_MIN"
        case 2: "PRIORITY_LOW"
        case 3: "PRIORITY_DEFAULT"
        case 4: "PRIORITY_HIGH"
        default: "PRIORITY_MAX"
        }
    }

    private var webPush: JSONObject {
        let urgency = payload.priority <= 1 ? "very-low" : payload.priority == 2 ? "low" : isUrgent ? "high" : "normal"
        var webPush: JSONObject = ["headers": ["TTL": .string(String(lifeSeconds)), "Urgency": .string(urgency)]]
        if isShown { webPush["notification"] = ["tag": .string(payload.collapseKey)] }
        if let url = payload.url, url.hasPrefix("https://") { webPush["fcm_options"] = ["link": .string(url)] }
        return webPush
    }
}
