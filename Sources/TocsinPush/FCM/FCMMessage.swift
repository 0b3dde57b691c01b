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
    ///
    /// - Parameter mayBeCritical: Whether the app has Apple's leave to sound through silence.
    init?(
        _ payload: PushPayload,
        platform: PushPlatform,
        life: FCMLife,
        mayBeCritical: Bool = false,
        startingWith detail: TextFitting.Detail = .everything
    ) {
        var draft = FCMDraft(payload: payload, platform: platform, life: life, mayBeCritical: mayBeCritical)
        // Apple's devices show a placeholder; Android's do where the topic has one of its own.
        let placeholder = payload.placeholder.flatMap { platform == .ios || $0.isForAndroid ? $0 : nil }
        let texts = TextFitting.Texts(
            title: placeholder?.title ?? payload.title,
            body: placeholder?.body ?? payload.body
        )
        if platform == .ios, detail == .everything {
            // An app may have left out that it is an Android's: both are served, if there is room.
            draft.servesAndroidToo = true
            let whole = draft.template(texts, detail)
            guard whole.countedBytes > PushPayload.maximumBytes else {
                template = whole
                return
            }
            draft.servesAndroidToo = false
        }
        let fitted = TextFitting.fit(
            texts,
            of: payload,
            within: PushPayload.maximumBytes,
            startingWith: detail,
            template: draft.template
        )
        guard let fitted else { return nil }
        template = fitted
    }
}

/// How long FCM keeps a message for a device that is away.
struct FCMLife: Sendable {
    /// FCM keeps nothing for longer: four weeks.
    private static let maximumSeconds: Int64 = 2_419_200
    /// Seconds from now, as Android and browsers are told.
    let seconds: Int64
    /// Unix seconds, as Apple is told.
    let end: Int64

    /// Until the deadline, or as long as FCM keeps anything.
    init(until deadline: Timestamp, now: Timestamp) {
        seconds = max(0, min((deadline.milliseconds - now.milliseconds) / 1000, Self.maximumSeconds))
        end = min(deadline.milliseconds / 1000, now.milliseconds / 1000 + Self.maximumSeconds)
    }
}

/// The parts of a message, before it is known how much of it fits.
private struct FCMDraft {
    let payload: PushPayload
    let platform: PushPlatform
    let life: FCMLife
    let mayBeCritical: Bool
    /// Whether a message for Apple's devices has what an Android shows, too.
    var servesAndroidToo = false

    private var options: PushOptions { payload.options }
    private var urgency: Urgency { Urgency.of(payload.priority) }
    /// What the system shows; corrections are for the app alone, as data, and so is ciphertext
    /// without a placeholder of the topic's.
    private var isShown: Bool { !options.silent && payload.placeholder?.isForAndroid != false }
    private var isForApple: Bool { platform == .ios }
    /// Only the app can show ciphertext, so it must be woken.
    private var isUrgent: Bool { !options.silent && (urgency.wakesAndroid || payload.placeholder != nil) }

    func template(_ texts: TextFitting.Texts, _ detail: TextFitting.Detail) -> BodyTemplate {
        var template = BodyTemplate()
        template.append { $0.raw("{\"message\":{") }
        template.appendGap(.token)
        template.append { $0.raw(",\"data\":{\"deliveryId\":") }
        template.appendGap(.deliveryID)
        template.append { writer in
            for member in data(texts, detail) { write(member.key, member.value, to: &writer) }
        }
        if isForApple {
            let servesAndroid = servesAndroidToo && isShown
            template.append { writer in
                writer.raw("}")
                if servesAndroid { write("notification", .object(notification(texts, detail)), to: &writer) }
            }
            appendApple(texts, detail, to: &template)
            if servesAndroid { appendAndroid(to: &template) }
            template.append { $0.raw("}}") }
            return template
        }
        if !isShown, options.badge == nil {
            template.appendGap(.badge(before: ",\"badge\":\"", after: "\"", otherwise: ""))
        }
        template.append { writer in
            writer.raw("}")
            if isShown { write("notification", .object(notification(texts, detail)), to: &writer) }
        }
        if platform == .web {
            template.append { write("webpush", .object(webPush), to: &$0) }
        } else {
            appendAndroid(to: &template)
        }
        template.append { $0.raw("}}") }
        return template
    }

    /// What the system shows needs no data; Apple's part has it all.
    private func data(_ texts: TextFitting.Texts, _ detail: TextFitting.Detail) -> JSONObject {
        // The app needs all of what the system shows no more of than a placeholder.
        let isComplete = isForApple || (isShown && payload.placeholder == nil)
        return FCMData(payload: payload, isShown: isComplete, isForApple: isForApple).members(texts, detail)
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

    /// The part that FCM hands to Apple: headers, and the payload as Apple's own service gets it.
    private func appendApple(
        _ texts: TextFitting.Texts,
        _ detail: TextFitting.Detail,
        to template: inout BodyTemplate
    ) {
        let apple = APNsDraft(payload: payload, type: .alert, mayBeCritical: mayBeCritical)
        let types = apple.pushTypes
        template.append { writer in
            writer.raw(",\"apns\":{\"headers\":{\"apns-push-type\":")
            if types.withBadge == types.without { writer.string(types.without.rawValue) }
        }
        if types.withBadge != types.without {
            template.appendGap(
                .choice(withBadge: "\"\(types.withBadge.rawValue)\"", otherwise: "\"\(types.without.rawValue)\"")
            )
        }
        template.append { writer in
            write("apns-priority", .string(String(apple.priority)), to: &writer)
            write("apns-expiration", .string(String(life.end)), to: &writer)
            write("apns-collapse-id", .string(payload.collapseKey), to: &writer)
            writer.raw("}")
            if let image = options.image, !options.silent, detail == .everything {
                write("fcm_options", ["image": .string(image)], to: &writer)
            }
            writer.raw(",\"payload\":")
        }
        template.append(apple.template(texts, detail))
        template.append { $0.raw("}") }
    }

    private func appendAndroid(to template: inout BodyTemplate) {
        template.append { writer in
            writer.raw(",\"android\":{\"priority\":")
            writer.string(isUrgent ? "high" : "normal")
            writer.raw(",\"ttl\":")
            writer.string("\(life.seconds)s")
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
        var webPush: JSONObject = ["headers": ["TTL": .string(String(life.seconds)), "Urgency": .string(urgencyText)]]
        if isShown { webPush["notification"] = ["tag": .string(payload.collapseKey)] }
        if let url = payload.url, url.hasPrefix("https://") { webPush["fcm_options"] = ["link": .string(url)] }
        return webPush
    }
}
