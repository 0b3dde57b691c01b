import JSON

/// A message as a feed brings it.
public struct FeedMessage: Sendable, Hashable, Identifiable {
    /// The message's id.
    public let id: String
    /// Its number in the topic: 1, 2, 3…, in the order in which messages were stored.
    public let number: Int64
    /// Says where it stands; give it to `follow(topic:after:)` to go on after this message.
    public let cursor: String
    /// The topic's id.
    public let topicID: String
    /// The publisher's own kind of message.
    public let type: Int64
    /// The line people see first.
    public let title: String
    /// The text.
    public let body: String
    /// When it was created, as the server writes it.
    public let createdAt: String
    /// 1 (min) to 5 (critical).
    public let priority: Int64
    /// A link that opens with the message.
    public let url: String?
    /// Texts for the app.
    public let data: [String: String]
    /// iOS category, Android click action.
    public let category: String?

    /// Reads a `Message` object; `nil` when something is missing.
    init?(_ value: JSONValue?) {
        guard let value, let id = value["id"]?.stringValue, let number = value["number"]?.intValue,
            let cursor = value["cursor"]?.stringValue, let topicID = value["topicId"]?.stringValue,
            let title = value["title"]?.stringValue, let body = value["body"]?.stringValue
        else { return nil }
        self.id = id
        self.number = number
        self.cursor = cursor
        self.topicID = topicID
        self.title = title
        self.body = body
        type = value["type"]?.intValue ?? 0
        createdAt = value["createdAt"]?.stringValue ?? ""
        priority = value["priority"]?.intValue ?? 3
        url = value["url"]?.stringValue
        category = value["category"]?.stringValue
        data = Self.texts(in: value["data"]?.stringValue)
    }

    /// The members of the JSON object in an `AWSJSON` text; values that are no
    /// strings are given as JSON.
    private static func texts(in json: String?) -> [String: String] {
        guard let json, let object = (try? JSONParser.parse(json))?.objectValue else { return [:] }
        var texts: [String: String] = [:]
        for member in object { texts[member.key] = member.value.stringValue ?? member.value.serializedString() }
        return texts
    }
}

/// Where a reader stands in a topic's feed.
public struct ResumePoint: Sendable, Hashable {
    /// The topic's id.
    public let topicID: String
    /// The number of the last message; 0 in a topic that had none.
    public let number: Int64
    /// The cursor of that message; `nil` where there is none yet.
    public let cursor: String?

    /// A resume point of these parts.
    public init(topicID: String, number: Int64, cursor: String?) {
        self.topicID = topicID
        self.number = number
        self.cursor = cursor
    }
}

extension FeedMessage {
    /// Where a reader of this message stands.
    public var resumePoint: ResumePoint { ResumePoint(topicID: topicID, number: number, cursor: cursor) }
}
