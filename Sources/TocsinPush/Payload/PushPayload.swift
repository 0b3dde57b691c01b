package import JSON
package import TocsinCore

/// What every provider's notification is built from: one message, read once for a page of devices.
package struct PushPayload: Sendable, Hashable {
    package var messageID: MessageID
    package var topicID: TopicID
    package var topicName: String
    package var number: MessageNumber
    package var type: Int64
    package var title: String
    /// At most as much as any provider could carry; the stored message may be longer.
    package var body: String
    /// 1 (least) to 5 (critical).
    package var priority: Int
    package var url: String?
    /// The publisher's own values for the app.
    package var data: JSONObject
    package var category: String?
    package var key: String?
    /// As the publisher gave it.
    package var createdAt: String
    /// When the message became durable, by the server's clock.
    package var committedAt: Timestamp
    package var expiresAt: Timestamp?
    package var options: PushOptions

    /// No provider takes a larger payload, in bytes.
    package static let maximumBytes = 4096

    /// Reads a message; fields that the model lacks take their defaults.
    package init(message: Record, topic: Record?) {
        messageID = MessageID(message.id)
        topicID = TopicID(message["topicId"].text ?? "")
        topicName = topic?["name"].text ?? ""
        number = message["number"].int ?? 0
        type = message["type"].int ?? 0
        title = TextFitting.prefix(of: message["title"].text ?? "", bytes: Self.maximumBytes)
        body = TextFitting.prefix(of: message["body"].text ?? "", bytes: Self.maximumBytes)
        priority = Int(min(5, max(1, message["priority"].int ?? 3)))
        url = message["url"].text
        data = Self.json(message["data"]).flatMap { try? JSONParser.parse($0) }?.objectValue ?? JSONObject()
        category = message["category"].text
        key = message["key"].text
        createdAt = message["createdAt"].text ?? ""
        committedAt = Timestamp(milliseconds: message["_lastChangedAt"].int ?? 0)
        expiresAt = message["expiresAt"].text.flatMap { Timestamp(awsDateTime: $0) }
        options = PushOptions(json: Self.json(message["push"]))
    }

    /// After this moment the message is not pushed any more.
    ///
    /// `since` is when it was asked for again by hand, with a life time of its own; `expiresAt` holds all the same.
    package func deadline(lifetimeSeconds: Double, since redriven: Timestamp? = nil) -> Timestamp {
        let ours = max(committedAt, redriven ?? committedAt).adding(seconds: lifetimeSeconds)
        return expiresAt.map { min($0, ours) } ?? ours
    }

    /// What makes a later push replace an earlier one on the screen: the same message, or the publisher's key in the topic.
    package var collapseKey: String {
        if options.collapse, let key, !key.isEmpty { return DeliveryIdentity.uuid(of: topicID.text, key) }
        let id = messageID.text.utf8
        let isHeaderText = id.count <= 64 && id.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        return isHeaderText ? messageID.text : DeliveryIdentity.uuid(of: topicID.text, messageID.text)
    }

    private static func json(_ value: FieldValue) -> String? {
        switch value {
        case .json(let text), .text(let text): text
        case .null, .bool, .int, .double: nil
        }
    }
}
