import JSON
import TocsinCore

/// A payload as a browser's service worker gets it, and the headers that go with it (RFC 8030 §5).
struct WebPushMessage: Sendable {
    let template: BodyTemplate
    let urgency: String
    /// Replaces a push with the same topic that waits for the browser: 32 characters of base 64
    /// for URLs (RFC 8030 §5.4).
    let topic: String

    /// No service must take a larger body (RFC 8291 §4), of which encryption takes
    /// header, end mark and tag.
    static let maximumPlaintextBytes = PushPayload.maximumBytes - 86 - 1 - 16

    /// Builds the largest message that fits; `startingWith` asks for less after a 413.
    init?(_ payload: PushPayload, startingWith detail: TextFitting.Detail = .everything) {
        let row = Urgency.of(payload.priority)
        urgency = payload.options.silent && row.wakesAndroid ? "normal" : row.web
        topic = DerivedUUID.text(of: payload.topicID.text, payload.collapseKey).filter { $0 != "-" }
        let draft = WebPushDraft(payload: payload)
        let fitted = TextFitting.fit(
            TextFitting.Texts(title: payload.title, body: payload.body),
            of: payload,
            within: Self.maximumPlaintextBytes,
            startingWith: detail,
            template: draft.template
        )
        guard let fitted else { return nil }
        template = fitted
    }
}

/// The parts of a message, before it is known how much of it fits.
///
/// `notification` is what `showNotification(title, options)` takes. With a link the message also is
/// a declarative push, which browsers that know it show without a service worker.
private struct WebPushDraft {
    let payload: PushPayload

    private var options: PushOptions { payload.options }
    private var isEncrypted: Bool { payload.placeholder != nil }

    func template(_ texts: TextFitting.Texts, _ detail: TextFitting.Detail) -> BodyTemplate {
        let link = detail == .everything ? payload.url.flatMap { $0.hasPrefix("https://") ? $0 : nil } : nil
        var template = BodyTemplate()
        template.append { writer in
            writer.raw("{\"silent\":")
            writer.bool(options.silent)
            // Ciphertext needs the page's own code.
            if link != nil, !options.silent, !isEncrypted { writer.raw(",\"web_push\":8030") }
            if let badge = options.badge { writer.raw(bytes: Array(",\"app_badge\":\(badge)".utf8)) }
        }
        if options.badge == nil { template.appendGap(.badge(before: ",\"app_badge\":", after: "", otherwise: "")) }
        template.append { writer in
            writer.raw(",\"notification\":{\"tag\":")
            writer.string(payload.collapseKey)
            for member in notification(texts, link, detail) { write(member.key, member.value, to: &writer) }
            writer.raw(",\"data\":{\"deliveryId\":")
        }
        template.appendGap(.deliveryID)
        template.append { writer in
            for member in data(texts, detail) { write(member.key, member.value, to: &writer) }
        }
        if detail == .everything, payload.maximumLinkBytes > 0 {
            template.appendGap(.links(before: ",\"links\":", maximumBytes: payload.maximumLinkBytes))
        }
        template.append { $0.raw("}}}") }
        return template
    }

    private func write(_ key: String, _ value: JSONValue, to writer: inout JSONWriter) {
        writer.raw(",")
        writer.string(key)
        writer.raw(":")
        writer.value(value)
    }

    private func notification(
        _ texts: TextFitting.Texts,
        _ link: String?,
        _ detail: TextFitting.Detail
    ) -> JSONObject {
        var notification: JSONObject = [
            "title": .string(payload.placeholder?.title ?? texts.title),
            "body": .string(payload.placeholder?.body ?? texts.body),
        ]
        let sounds = options.sound.map { !$0.isEmpty && $0 != "none" } ?? Urgency.of(payload.priority).sounds
        if !sounds { notification["silent"] = true }
        if payload.priority == 5 { notification["requireInteraction"] = true }
        guard detail == .everything else { return notification }
        if let link { notification["navigate"] = .string(link) }
        if let image = options.image { notification["image"] = .string(image) }
        if !payload.actions.isEmpty {
            notification["actions"] = .array(
                payload.actions.map { ["action": .string($0.id), "title": .string($0.title)] }
            )
        }
        return notification
    }

    private func data(_ texts: TextFitting.Texts, _ detail: TextFitting.Detail) -> JSONObject {
        var data: JSONObject = [
            "messageId": .string(payload.messageID.text), "topicId": .string(payload.topicID.text),
            "number": .int(payload.number),
        ]
        if isEncrypted { data["encrypted"] = true }
        guard detail == .everything else { return withEPNS(data, texts, detail) }
        if isEncrypted, payload.epns == nil {
            data["title"] = .string(texts.title)
            data["body"] = .string(texts.body)
        }
        data["id"] = .string(payload.messageID.text)
        data["type"] = payload.shownType
        data["priority"] = .int(Int64(payload.priority))
        data["createdAt"] = .string(payload.createdAt)
        data["timestamp"] = .string(payload.createdAt)
        if let cursor = payload.cursor { data["cursor"] = .string(cursor) }
        if let url = payload.url { data["url"] = .string(url) }
        if let category = payload.category { data["category"] = .string(category) }
        if !payload.otherData.isEmpty { data["data"] = .object(payload.otherData) }
        return withEPNS(data, texts, detail)
    }

    private func withEPNS(
        _ data: JSONObject,
        _ texts: TextFitting.Texts,
        _ detail: TextFitting.Detail
    ) -> JSONObject {
        payload.epns.map { data.merging($0.members(of: payload, texts, detail)) } ?? data
    }
}
