import JSON
import TocsinCore

/// A payload as FCM HTTP v1 wants it (Firebase: REST Resource projects.messages).
///
/// It has no `collapse_key`, because collapsible messages are throttled; on the screen the tag
/// replaces.
struct FCMMessage: Sendable {
    let template: BodyTemplate

    /// Builds the largest message that fits; `startingWith` asks for less
    /// after a refusal for its size.
    init?(
        _ payload: PushPayload,
        platform: PushPlatform,
        lifeSeconds: Int64,
        startingWith detail: TextFitting.Detail = .everything
    ) {
        let draft = FCMDraft(payload: payload, platform: platform, lifeSeconds: max(0, min(lifeSeconds, 2_419_200)))
        let fitted = TextFitting.fit(
            TextFitting.Texts(title: payload.title, body: payload.body),
            of: payload,
            within: PushPayload.maximumBytes,
            startingWith: detail,
            template: draft.template
        )
        guard let fitted else { return nil }
        template = fitted
    }
}

/// The parts of a message, before it is known how much of it fits.
private struct FCMDraft {
    let payload: PushPayload
    let platform: PushPlatform
    let lifeSeconds: Int64

    private var options: PushOptions { payload.options }
    private var urgency: Urgency { Urgency.of(payload.priority) }
    /// What the system shows; corrections and ciphertext are for the app alone, as data.
    private var isShown: Bool { !options.silent && payload.placeholder == nil }
    /// Only the app can show ciphertext, so it must be woken.
    private var isUrgent: Bool { !options.silent && (urgency.wakesAndroid || payload.placeholder != nil) }

    func template(_ texts: TextFitting.Texts, _ detail: TextFitting.Detail) -> BodyTemplate {
        var template = BodyTemplate()
        template.append { $0.raw("{\"message\":{") }
        template.appendGap(.token)
        template.append { $0.raw(",\"data\":{\"deliveryId\":") }
        template.appendGap(.deliveryID)
        template.append { writer in
            for member in FCMData(payload: payload, isShown: isShown).members(texts, detail) {
                write(member.key, member.value, to: &writer)
            }
        }
        if !isShown, options.badge == nil {
            template.appendGap(.badge(before: ",\"badge\":\"", after: "\"", otherwise: ""))
        }
        template.append { writer in
            writer.raw("}")
            if isShown { write("notification", .object(notification(texts, detail)), to: &writer) }
        }
        switch platform {
        case .web: template.append { write("webpush", .object(webPush), to: &$0) }
        case .android, .ios: appendAndroid(to: &template)
        }
        template.append { $0.raw("}}") }
        return template
    }

    private func write(_ key: String, _ value: JSONValue, to writer: inout JSONWriter) {
        writer.raw(",")
        writer.string(key)
        writer.raw(":")
        writer.value(value)
    }

    private func notification(_ texts: TextFitting.Texts, _ detail: TextFitting.Detail) -> JSONObject {
        var notification: JSONObject = ["title": .string(texts.title)]
        if !texts.body.isEmpty { notification["body"] = .string(texts.body) }
        if let image = options.image, detail == .everything { notification["image"] = .string(image) }
        return notification
    }

    private func appendAndroid(to template: inout BodyTemplate) {
        template.append { writer in
            writer.raw(",\"android\":{\"priority\":")
            writer.string(isUrgent ? "high" : "normal")
            writer.raw(",\"ttl\":")
            writer.string("\(lifeSeconds)s")
            guard isShown else { return }
            writer.raw(",\"notification\":{\"tag\":")
            writer.string(payload.collapseKey)
            for member in androidNotification { write(member.key, member.value, to: &writer) }
        }
        if isShown {
            if options.badge == nil {
                template.appendGap(.badge(before: ",\"notification_count\":", after: "", otherwise: ""))
            }
            template.append { $0.raw("}") }
        }
        template.append { $0.raw("}") }
    }

    /// What follows the tag.
    private var androidNotification: JSONObject {
        var notification: JSONObject = ["notification_priority": .string(urgency.notificationPriority)]
        if let channel = options.channelID { notification["channel_id"] = .string(channel) }
        if let sound { notification["sound"] = .string(sound) }
        if let category = payload.category { notification["click_action"] = .string(category) }
        if let badge = options.badge { notification["notification_count"] = .int(badge) }
        return notification
    }

    private var sound: String? {
        guard let sound = options.sound else { return urgency.sounds ? "default" : nil }
        return sound.isEmpty || sound == "none" ? nil : sound
    }

    private var webPush: JSONObject {
        let urgencyText = options.silent && urgency.wakesAndroid ? "normal" : urgency.web
        var webPush: JSONObject = ["headers": ["TTL": .string(String(lifeSeconds)), "Urgency": .string(urgencyText)]]
        if isShown { webPush["notification"] = ["tag": .string(payload.collapseKey)] }
        if let url = payload.url, url.hasPrefix("https://") { webPush["fcm_options"] = ["link": .string(url)] }
        return webPush
    }
}
