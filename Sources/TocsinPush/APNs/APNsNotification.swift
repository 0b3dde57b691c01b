import JSON
import TocsinCore

/// A payload as Apple wants it: body and headers (Apple: Sending
/// notification requests to APNs).
struct APNsNotification: Sendable {
    let template: BodyTemplate
    let priority: Int
    let collapseID: String
    private let pushTypes: (withBadge: APNsPushType, without: APNsPushType)

    /// The push type for one device: a silent push is an alert as soon as it changes the badge.
    func pushType(for target: PushTarget) -> APNsPushType {
        target.badge == nil ? pushTypes.without : pushTypes.withBadge
    }

    /// The push type for all devices, if it is one.
    var pushType: APNsPushType? { pushTypes.withBadge == pushTypes.without ? pushTypes.without : nil }

    /// Builds the largest notification that fits; `startingWith` asks for less after a 413.
    ///
    /// - Parameters:
    ///   - type: What the devices' tokens are for: `alert`, or `voip`.
    ///   - mayBeCritical: Whether the app has Apple's leave to sound through silence.
    init?(
        _ payload: PushPayload,
        type: APNsPushType = .alert,
        mayBeCritical: Bool = false,
        startingWith detail: TextFitting.Detail = .everything
    ) {
        let draft = APNsDraft(payload: payload, type: type, mayBeCritical: mayBeCritical)
        pushTypes = draft.pushTypes
        priority = draft.priority
        collapseID = payload.collapseKey
        let fitted = TextFitting.fit(
            TextFitting.Texts(
                title: payload.placeholder?.title ?? payload.title,
                body: payload.placeholder?.body ?? payload.body
            ),
            of: payload,
            within: type.maximumBytes,
            startingWith: detail,
            template: draft.template
        )
        guard let fitted else { return nil }
        template = fitted
    }
}

/// The parts of a notification, before it is known how much of it fits.
struct APNsDraft {
    let payload: PushPayload
    let type: APNsPushType
    let mayBeCritical: Bool

    private var options: PushOptions { payload.options }
    private var urgency: Urgency { Urgency.of(payload.priority) }

    /// `apns-priority`.
    var priority: Int { type == .voip ? 10 : options.silent ? 5 : urgency.apnsPriority }

    /// `apns-push-type` of a device with a badge of its own, and of one without.
    var pushTypes: (withBadge: APNsPushType, without: APNsPushType) {
        guard type == .alert, options.silent else { return (type, type) }
        return (.alert, options.badge == nil ? .background : .alert)
    }

    /// The payload: one JSON object.
    func template(_ texts: TextFitting.Texts, _ detail: TextFitting.Detail) -> BodyTemplate {
        var template = BodyTemplate()
        template.append { $0.raw("{\"aps\":{") }
        appendAps(texts, detail, to: &template)
        template.append { writer in
            writer.raw("}")
            for member in ownKeys(texts, detail) { Self.write(member.key, member.value, to: &writer) }
            writer.raw(",\"deliveryId\":")
        }
        template.appendGap(.deliveryID)
        template.append { $0.raw("}") }
        return template
    }

    private static func write(_ key: String, _ value: JSONValue, to writer: inout JSONWriter) {
        writer.raw(",")
        writer.string(key)
        writer.raw(":")
        writer.value(value)
    }

    /// The members of `aps`.
    ///
    /// A silent correction is an alert that only sets the badge, because phones hold background
    /// pushes back. Where there is no badge to set, a background push is all that is left.
    private func appendAps(_ texts: TextFitting.Texts, _ detail: TextFitting.Detail, to template: inout BodyTemplate) {
        if type == .voip { return }
        if options.silent {
            guard let badge = options.badge else {
                let nothing = "\"content-available\":1"
                return template.appendGap(.badge(before: "\"badge\":", after: "", otherwise: nothing))
            }
            return template.append {
                $0.raw("\"badge\":"); $0.int(badge)
            }
        }
        template.append { writer in
            writer.raw("\"alert\":")
            writer.value(.object(alert(texts, detail)))
            for member in shownMembers(detail) { Self.write(member.key, member.value, to: &writer) }
            if let badge = options.badge { Self.write("badge", .int(badge), to: &writer) }
        }
        if options.badge == nil { template.appendGap(.badge(before: ",\"badge\":", after: "", otherwise: "")) }
    }

    private func alert(_ texts: TextFitting.Texts, _ detail: TextFitting.Detail) -> JSONObject {
        var alert: JSONObject = ["title": .string(texts.title)]
        if let subtitle = options.subtitle, detail == .everything, payload.placeholder == nil {
            alert["subtitle"] = .string(subtitle)
        }
        if !texts.body.isEmpty { alert["body"] = .string(texts.body) }
        return alert
    }

    private func shownMembers(_ detail: TextFitting.Detail) -> JSONObject {
        var members: JSONObject = [:]
        if let sound { members["sound"] = sound }
        members["thread-id"] = .string(options.threadID ?? payload.topicID.text)
        if let category = payload.category { members["category"] = .string(category) }
        // Only the app's own extension can fetch a picture or read ciphertext.
        if options.mutableContent || options.image != nil || payload.placeholder != nil {
            members["mutable-content"] = 1
        }
        members["interruption-level"] = .string(interruptionLevel)
        if let score = options.relevanceScore { members["relevance-score"] = .double(score) }
        return members
    }

    /// A name, or Apple's dictionary for what sounds through silence.
    private var sound: JSONValue? {
        let name = options.sound ?? (urgency.sounds ? "default" : "none")
        guard !name.isEmpty, name != "none" else { return nil }
        guard interruptionLevel == "critical" else { return .string(name) }
        return ["critical": 1, "name": .string(name), "volume": .double(options.volume ?? 1)]
    }

    /// Apple drops the level of an app without leave for it, so it is not asked for.
    private var interruptionLevel: String {
        let level = options.interruptionLevel ?? urgency.interruptionLevel
        return level == "critical" && !mayBeCritical ? "time-sensitive" : level
    }

    private func ownKeys(_ texts: TextFitting.Texts, _ detail: TextFitting.Detail) -> JSONObject {
        var keys: JSONObject = [
            "messageId": .string(payload.messageID.text), "topicId": .string(payload.topicID.text),
            "number": .int(payload.number),
        ]
        if payload.placeholder != nil { keys["encrypted"] = 1 }
        let epns = payload.epns?.members(of: payload, texts, detail) ?? [:]
        if type == .voip, payload.placeholder == nil {
            keys["title"] = .string(texts.title)
            keys["body"] = .string(texts.body)
        }
        guard detail == .everything else { return keys.merging(epns) }
        // The form of EPNS has the ciphertext under names of its own.
        if payload.placeholder != nil, payload.epns == nil {
            keys["title"] = .string(payload.title)
            keys["body"] = .string(payload.body)
        }
        keys["id"] = .string(payload.messageID.text)
        keys["type"] = payload.shownType
        keys["createdAt"] = .string(payload.createdAt)
        keys["timestamp"] = .string(payload.createdAt)
        if let cursor = payload.cursor { keys["cursor"] = .string(cursor) }
        if let url = payload.url { keys["url"] = .string(url) }
        if let image = options.image { keys["image"] = .string(image) }
        if !options.actions.isEmpty { keys["actions"] = .array(options.actions.map(\.json)) }
        if !payload.otherData.isEmpty { keys["data"] = .object(payload.otherData) }
        return keys.merging(epns)
    }
}
