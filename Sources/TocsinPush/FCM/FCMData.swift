import JSON
import TocsinCore

/// The `data` of an FCM message: one flat map of texts, ours and the publisher's.
struct FCMData {
    let payload: PushPayload
    /// Whether the system shows the notification; what it would need is data otherwise.
    let isShown: Bool
    /// Whether it is joined with a payload of Apple's, in which `aps` is Apple's own.
    var isForApple = false

    /// Filled by the template, after this.
    private static let filledLater: Set<String> = ["deliveryId", "badge"]

    /// All but the delivery's id.
    func members(_ texts: TextFitting.Texts, _ detail: TextFitting.Detail) -> JSONObject {
        var data: JSONObject = [
            "id": .string(payload.messageID.text), "messageId": .string(payload.messageID.text),
            "topicId": .string(payload.topicID.text), "number": .string(String(payload.number)),
        ]
        let isEncrypted = payload.placeholder != nil
        if isEncrypted { data["encrypted"] = "1" }
        if !isShown { addScreen(to: &data) }
        // Ciphertext is whole or absent; texts come cut to fit.
        if !isShown, !isEncrypted || (detail == .everything && payload.epns == nil) {
            data["title"] = .string(isEncrypted ? payload.title : texts.title)
            data["body"] = .string(isEncrypted ? payload.body : texts.body)
        }
        guard detail == .everything else {
            return withEPNS(data, texts, detail)
        }
        data["type"] = .string(payload.typeName ?? String(payload.type))
        data["createdAt"] = .string(payload.createdAt)
        data["timestamp"] = .string(payload.createdAt)
        if let cursor = payload.cursor { data["cursor"] = .string(cursor) }
        if let url = payload.url { data["url"] = .string(url) }
        if let category = payload.category { data["category"] = .string(category) }
        if !payload.actions.isEmpty {
            data["actions"] = .string(JSONValue.array(payload.actions.map(\.json)).serializedString())
        }
        if !isShown, let image = payload.options.image { data["image"] = .string(image) }
        data = withEPNS(data, texts, detail)
        addPublishers(to: &data)
        return data
    }

    /// Its names win over ours: `url` is the app's page there, and `acta` is the message's link.
    private func withEPNS(
        _ data: JSONObject,
        _ texts: TextFitting.Texts,
        _ detail: TextFitting.Detail
    ) -> JSONObject {
        payload.epns.map { data.merging($0.members(of: payload, texts, detail)) } ?? data
    }

    /// What an app needs to show, replace or count by itself.
    private func addScreen(to data: inout JSONObject) {
        data["tag"] = .string(payload.collapseKey)
        if let channel = payload.options.channelID { data["channelId"] = .string(channel) }
        if let badge = payload.options.badge { data["badge"] = .string(String(badge)) }
    }

    /// The publisher's own keys; one that is ours already, or Firebase's, is
    /// called `data.<key>` instead.
    private func addPublishers(to data: inout JSONObject) {
        var ours = Set(data.keys).union(Self.filledLater)
        if isForApple { ours.insert("aps") }
        for member in payload.otherData {
            let isTaken = ours.contains(member.key) || PushDataKeys.isReserved(member.key)
            let key = isTaken ? "data." + member.key : member.key
            guard !isTaken || payload.otherData[key] == nil else { continue }
            data[key] = .string(member.value.stringValue ?? member.value.serializedString())
        }
    }
}
