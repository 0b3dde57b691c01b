import JSON

/// A message to be published, but for its topic.
public struct MessageDraft: Sendable, Hashable {
    /// The line people see first.
    public var title: String
    /// The text.
    public var body: String
    /// The publisher's own kind of message.
    public var type: Int
    /// A word for the type, in place of the number; unknown words are kept.
    public var typeName: String?
    /// 1 (min) to 5 (critical); the server's default is 3.
    public var priority: Int?
    /// A link that opens with the message.
    public var url: String?
    /// The publisher's dedupe key within the topic.
    public var key: String?
    /// Texts handed to the app with the push.
    public var data: [String: String]
    /// iOS category, Android click action.
    public var category: String?
    /// The message's id; made by the client when it is left out.
    public var id: String?

    /// A draft of these parts.
    public init(title: String, body: String = "", type: Int = 0) {
        self.title = title
        self.body = body
        self.type = type
        data = [:]
    }
}

/// What the server says of a message it has stored.
public struct PublishedMessage: Sendable, Hashable {
    /// The message's id.
    public let id: String
    /// Its number in the topic, counted from 1.
    public let number: Int64
    /// Says where it stands, for `follow(topic:after:)`.
    public let cursor: String
    /// The topic's id.
    public let topicID: String
    /// When it was created, as the server writes it.
    public let createdAt: String
}

extension TocsinClient {
    /// Publishes a message; when this returns, the server has stored it durably.
    ///
    /// The message has an id before it is first sent, and every attempt sends the same one. So a
    /// lost answer makes no second message.
    public func publish(topic: TopicReference, _ draft: MessageDraft) async throws(ClientError) -> PublishedMessage {
        var draft = draft
        if draft.id == nil { draft.id = makeMessageID() }
        do throws(ClientError) {
            return try await create(draft, topicID: try await topicID(of: topic))
        } catch {
            // The topic may have been deleted and made again under the name we remember.
            guard [.unauthorized, .topicNotFound, .init(rawValue: "BAD_USER_INPUT")].contains(error.code),
                forgetTopic(topic)
            else { throw error }
            return try await create(draft, topicID: try await topicID(of: topic))
        }
    }

    /// Publishes a message given in its parts; see `publish(topic:_:)`.
    public func publish(
        topic: TopicReference,
        title: String,
        body: String = "",
        type: Int = 0,
        priority: Int? = nil,
        url: String? = nil,
        key: String? = nil,
        data: [String: String] = [:],
        id: String? = nil
    ) async throws(ClientError) -> PublishedMessage {
        var draft = MessageDraft(title: title, body: body, type: type)
        draft.priority = priority
        draft.url = url
        draft.key = key
        draft.data = data
        draft.id = id
        return try await publish(topic: topic, draft)
    }

    /// The id of the topic of this name, which is created if it is missing.
    public func makeTopic(named name: String) async throws(ClientError) -> String {
        do throws(ClientError) {
            return try await topicID(of: .name(name))
        } catch {
            guard error.code == .topicNotFound else { throw error }
        }
        let input: JSONValue = ["id": .string(makeMessageID()), "name": .string(name)]
        let created: JSONValue
        do throws(ClientError) {
            created = try await query(Documents.createTopic, variables: ["input": input])
        } catch {
            // Somebody else has made it meanwhile.
            guard error.code == .conflict else { throw error }
            return try await topicID(of: .name(name))
        }
        guard let id = created["createTopic"]?["id"]?.stringValue else {
            throw ClientError(.badAnswer, "The server did not say the new topic's id.")
        }
        return id
    }

    private func create(_ draft: MessageDraft, topicID: String) async throws(ClientError) -> PublishedMessage {
        let answer = try await query(Documents.createMessage, variables: ["input": draft.input(topicID: topicID)])
        guard let message = answer["createMessage"], let id = message["id"]?.stringValue,
            let number = message["number"]?.intValue, let cursor = message["cursor"]?.stringValue
        else {
            throw ClientError(.badAnswer, "The server did not say the new message's id and number.")
        }
        return PublishedMessage(
            id: id,
            number: number,
            cursor: cursor,
            topicID: message["topicId"]?.stringValue ?? topicID,
            createdAt: message["createdAt"]?.stringValue ?? ""
        )
    }

    private func makeMessageID() -> String {
        let milliseconds = UInt64(max(0, settings.environment.wallClock().milliseconds))
        let random = (UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max))
        return MessageIdentifier.make(millisecondsSince1970: milliseconds, random: random)
    }
}

extension MessageDraft {
    /// `CreateMessageInput`; what was left out stays out.
    func input(topicID: String) -> JSONValue {
        var input: JSONObject = [
            "topicId": .string(topicID), "title": .string(title), "body": .string(body), "type": .int(Int64(type)),
        ]
        if let id { input["id"] = .string(id) }
        if let typeName { input["typeName"] = .string(typeName) }
        if let priority { input["priority"] = .int(Int64(priority)) }
        if let url { input["url"] = .string(url) }
        if let key { input["key"] = .string(key) }
        if let category { input["category"] = .string(category) }
        if !data.isEmpty {
            let members = data.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) }
            input["data"] = .string(JSONValue.object(JSONObject(members)).serializedString())
        }
        return .object(input)
    }
}

/// Ids for messages, made by the client so that a repeated attempt names the same message.
enum MessageIdentifier {
    /// A UUID of version 7 (RFC 9562 §5.7): it begins with the time, which keeps the
    /// server's index in order.
    static func make(millisecondsSince1970 time: UInt64, random: (UInt64, UInt64)) -> String {
        let high = (time & 0xFFFF_FFFF_FFFF) << 16 | 0x7000 | random.0 & 0x0FFF
        let low = 0x8000_0000_0000_0000 | random.1 & 0x3FFF_FFFF_FFFF_FFFF
        let digits = hexadecimal(high) + hexadecimal(low)
        var text = ""
        for (position, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(position) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
