public import JSON

/// What an app gets with a push, read the same from Apple, Firebase and Web Push.
///
/// Reading never fails. Members may come in any order, numbers as numbers or as text. What is
/// missing is `nil`, and what is not known stays in `data`.
public struct PushContent: Sendable, Hashable {
    /// The message's id, by which an app fetches it and shows it once.
    public var messageID: String?
    /// The delivery of the message to this device.
    public var deliveryID: String?
    /// The message's topic.
    public var topicID: String?
    /// The message's number in its topic.
    public var number: Int64?
    /// Where the message stands in its topic's feed.
    public var cursor: String?
    /// The publisher's kind of message: a word, or a number as text.
    public var type: String?
    /// What a tap opens.
    public var url: String?
    /// The kind of notification, whose buttons the app knows.
    public var category: String?
    /// Buttons of this message alone.
    public var actions: [PushAction] = []
    /// The line that is shown first; of a sealed message the placeholder.
    public var title: String?
    /// The line under the title.
    public var subtitle: String?
    /// The text that is shown; of a sealed message the placeholder.
    public var body: String?
    /// Address of a picture.
    public var image: String?
    /// What the phone groups notifications by.
    public var threadID: String?
    /// The number for the app's icon.
    public var badge: Int64?
    /// 1 (least) to 5 (critical), where the push says it.
    public var priority: Int64?
    /// When the message was made, as its publisher or the server wrote it.
    public var createdAt: String?
    /// The publisher's own values under their own names, and whatever else came.
    public var data: JSONObject = [:]
    /// Whether nothing is shown.
    public var isSilent = false
    /// What only the app can read; `nil` for messages that anybody may read.
    public var sealed: SealedText?

    /// Ciphertext, untouched.
    public struct SealedText: Sendable, Hashable {
        /// The title's; `nil` where it was too large for the push, or there is none.
        public var title: String?
        /// The text's; `nil` where it was too large for the push.
        public var body: String?
        /// The key of the message, itself sealed for the reader, where the message has one.
        public var secret: String?

        /// Ciphertext of these parts.
        public init(title: String? = nil, body: String? = nil, secret: String? = nil) {
            self.title = title
            self.body = body
            self.secret = secret
        }
    }

    /// A push that says nothing.
    public init() {}

    /// The type, where it is a number.
    public var typeNumber: Int64? { type.flatMap { Int64($0) } }

    /// Whether ids alone came, because the message was too large: fetch it by `messageID`.
    public var isReduced: Bool { messageID != nil && createdAt == nil && type == nil }

    /// A value of `data` as text; objects and lists as JSON.
    public func text(_ name: String) -> String? {
        guard let value = data[name], !value.isNull else { return nil }
        return value.stringValue ?? value.serializedString()
    }
}
