public import JSON

/// A push to a user or to devices, without a topic: what `sendPush` takes.
public struct PushPayload: Sendable, Hashable {
    /// The line people see first.
    public var title: String
    /// The text.
    public var body: String
    /// Texts handed to the app.
    public var data: [String: String] = [:]
    /// The sender's own kind of message.
    public var type: Int64 = 0
    /// 1 (least) to 5 (critical); `nil` is the server's default.
    public var priority: Int64?
    /// What a tap opens.
    public var url: String?
    /// The kind of notification, whose buttons apps know.
    public var category: String?
    /// One push, however often it is asked for under this key.
    public var key: String?
    /// The number on the app's icon; `nil` leaves it to the server.
    public var badge: Int64?
    /// A sound's name, or `none`.
    public var sound: String?
    /// Address of a picture, https.
    public var image: String?
    /// Whether nothing is shown.
    public var isSilent = false

    /// A push with these texts.
    public init(title: String, body: String = "") {
        self.title = title
        self.body = body
    }

    /// The arguments of `sendPush`; what was not said stays out.
    public var arguments: JSONObject {
        var arguments: JSONObject = ["title": .string(title), "body": .string(body), "type": .int(type)]
        if !data.isEmpty {
            let members = data.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) }
            arguments["data"] = .string(JSONValue.object(JSONObject(members)).serializedString())
        }
        arguments["priority"] = priority.map(JSONValue.int)
        arguments["url"] = url.map(JSONValue.string)
        arguments["category"] = category.map(JSONValue.string)
        arguments["key"] = key.map(JSONValue.string)
        var push: JSONObject = [:]
        push["badge"] = badge.map(JSONValue.int)
        push["sound"] = sound.map(JSONValue.string)
        push["image"] = image.map(JSONValue.string)
        if isSilent { push["silent"] = true }
        if !push.isEmpty { arguments["push"] = .object(push) }
        return arguments
    }
}

/// What the server says of a push it has stored: the outbox sends it from there.
public struct PushResult: Sendable, Hashable {
    /// The message, under which the outcome of each device is found.
    public var messageID: String
    /// How many devices get it.
    public var devices: Int64
    /// How many tokens no device here has.
    public var unknownTokens: Int64

    /// A result of these parts.
    public init(messageID: String, devices: Int64, unknownTokens: Int64) {
        self.messageID = messageID
        self.devices = devices
        self.unknownTokens = unknownTokens
    }

    /// Reads the value of `sendPush { messageId devices unknownTokens }`.
    public init?(_ value: JSONValue?) {
        guard let id = value?["messageId"]?.stringValue, let devices = value?["devices"]?.intValue else { return nil }
        self.init(messageID: id, devices: devices, unknownTokens: value?["unknownTokens"]?.intValue ?? 0)
    }
}
