package import JSON
package import TocsinCore

/// What every provider's notification is built from: one message, read once for a page of devices.
package struct PushPayload: Sendable, Hashable {
    /// The message's id, by which apps find it.
    package var messageID: MessageID
    /// The topic's id; of a direct push the sender's own topic.
    package var topicID: TopicID
    /// The topic's name; empty when the topic is gone.
    package var topicName: String
    /// The message's number in its topic.
    package var number: MessageNumber
    /// The number of the message's type.
    package var type: Int64
    /// The word of the type; nil: the number stands alone.
    package var typeName: String?
    /// The title, at most as much as any provider could carry.
    package var title: String
    /// At most as much as any provider could carry; the stored message may be longer.
    package var body: String
    /// 1 (least) to 5 (critical).
    package var priority: Int
    /// What a tap opens; nil: the app.
    package var url: String?
    /// The publisher's own values for the app.
    package var data: JSONObject
    /// The kind of notification, whose buttons apps know; nil: none.
    package var category: String?
    /// The publisher's dedupe key; nil: none.
    package var key: String?
    /// The incident that it is about; nil: none.
    package var incidentID: String?
    /// As the publisher gave it.
    package var createdAt: String
    /// When the message became durable, by the server's clock.
    package var committedAt: Timestamp
    /// After this the message is not pushed; nil: its life time alone counts.
    package var expiresAt: Timestamp?
    /// How the push is to be shown.
    package var options: PushOptions
    /// Buttons: the message's own, else those of its category where the server knows it.
    package var actions: [NotificationAction]
    /// What the buttons do that have a link of their own for each person.
    package var linkActions: [IncidentLink.Action] = []
    /// The buttons whose call the server makes, by a link of its own for each person.
    package var callButtons: [String] = []
    /// The most bytes that their links take, as JSON.
    var maximumLinkBytes = 0
    /// As clients get it from the API.
    package var cursor: String?
    /// What is shown in place of title and body, which are ciphertext; nil for
    /// messages that anybody may read.
    package var placeholder: Placeholder?
    /// The eleven keys of EPNS's app, where the topic asks for them.
    package var epns: WalletPayload?

    /// Texts that give nothing away.
    package struct Placeholder: Sendable, Hashable {
        /// Shown in place of the title.
        package var title: String
        /// Shown in place of the body.
        package var body: String
        /// Whether Android's system shows it too; else the app alone gets the ciphertext there.
        package var isForAndroid = false
    }

    /// No provider takes a larger payload, in bytes; Apple's for calls alone is larger.
    package static let maximumBytes = 4096
    /// More text than any payload holds; so ciphertext that was cut never fits, and is left out.
    private static let maximumTextBytes = 5120
    /// Name, quotes and signs around a link.
    private static let linkFrameBytes = 32

    /// Reads a message; fields that the model lacks take their defaults.
    package init(message: Record, topic: Record?, content: PushContent = PushContent()) {
        messageID = MessageID(message.id)
        topicID = TopicID(message["topicId"].text ?? "")
        topicName = topic?["name"].text ?? ""
        number = message["number"].int ?? 0
        type = message["type"].int ?? 0
        typeName = message[ModelType.typeName].text
        title = TextFitting.prefix(of: message["title"].text ?? "", bytes: Self.maximumTextBytes)
        body = TextFitting.prefix(of: message["body"].text ?? "", bytes: Self.maximumTextBytes)
        priority = Int(min(5, max(1, message["priority"].int ?? 3)))
        url = message["url"].text
        data = Self.json(message["data"]).flatMap { try? JSONParser.parse($0) }?.objectValue ?? JSONObject()
        let named = message["category"].text
        let state = named.flatMap { content.state($0) }
        category = state?.category ?? named
        key = message["key"].text
        incidentID = message["incidentId"].text
        createdAt = message["createdAt"].text ?? ""
        committedAt = Timestamp(milliseconds: message["_lastChangedAt"].int ?? 0)
        expiresAt = message["expiresAt"].text.flatMap { Timestamp(awsDateTime: $0) }
        options = PushOptions(json: Self.json(message["push"]))
        let usual = state?.actions ?? category.flatMap { content.categories[$0]?.actions } ?? []
        actions = options.actions.isEmpty ? usual : options.actions
        if let links = content.links {
            if incidentID != nil { linkActions = actions.compactMap { IncidentLink.Action(rawValue: $0.id) } }
            callButtons = options.actions.filter(\.isCall).map(\.id)
            let count = linkActions.count + callButtons.count
            maximumLinkBytes = count == 0 ? 0 : 2 + count * (links.maximumBytes + Self.linkFrameBytes)
        }
        cursor = content.cursor?(message)
        if options.encrypted || Self.isSecret(type: type, typeName, data) {
            placeholder = Placeholder(message, topic, content)
        }
        if let topic, topic["pushPayload"].text == "EPNS" { epns = WalletPayload(topic: topic) }
        if options.channelID == nil { options.channelID = topic?["channelId"].text }
        if options.interruptionLevel == nil { options.interruptionLevel = topic?["interruptionLevel"].text }
    }

    /// Type 2 with a `secret` is the older way to say that title, body and data are
    /// ciphertext; type 2 alone is not, nor is a word for it that means something else.
    private static func isSecret(type: Int64, _ typeName: String?, _ data: JSONObject) -> Bool {
        type == 2 && (typeName == nil || typeName == "secret") && data["secret"]?.stringValue?.isEmpty == false
    }

    /// The type as apps get it: its word, else its number.
    var shownType: JSONValue { typeName.map { .string($0) } ?? .int(type) }

    /// After this moment the message is not pushed any more.
    ///
    /// `since` is when it was asked for again by hand, with a life time of its own;
    /// `expiresAt` holds all the same.
    package func deadline(lifetimeSeconds: Double, since redriven: Timestamp? = nil) -> Timestamp {
        let ours = max(committedAt, redriven ?? committedAt).adding(seconds: lifetimeSeconds)
        return expiresAt.map { min($0, ours) } ?? ours
    }

    /// What makes a later push replace an earlier one on the screen: the same incident or message,
    /// or the publisher's key in the topic.
    package var collapseKey: String {
        if let incidentID { return DerivedUUID.text(of: topicID.text, incidentID) }
        if let given = options.collapseKey, !given.isEmpty { return DerivedUUID.text(of: topicID.text, given) }
        if options.collapse, let key, !key.isEmpty { return DerivedUUID.text(of: topicID.text, key) }
        let id = messageID.text.utf8
        let isHeaderText = id.count <= 64 && id.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        return isHeaderText ? messageID.text : DerivedUUID.text(of: topicID.text, messageID.text)
    }

    /// The same, shown without ringing, whatever was asked of its sound.
    var hushed: PushPayload {
        var hushed = self
        hushed.priority = min(priority, Self.hushedPriority)
        (hushed.options.sound, hushed.options.volume, hushed.options.interruptionLevel) = (nil, nil, nil)
        return hushed
    }

    /// Shown without a sound by each provider.
    private static let hushedPriority = 2

    private static func json(_ value: FieldValue) -> String? {
        switch value {
        case .json(let text), .text(let text): text
        case .null, .bool, .int, .double: nil
        }
    }
}

extension PushPayload.Placeholder {
    /// What stands in place of an encrypted message's texts: the topic's own words, else the
    /// server's.
    ///
    /// `{owner}` stands for who sent it, by their user name where the message names it.
    fileprivate init(_ message: Record, _ topic: Record?, _ content: PushContent) {
        let own = topic?["pushPlaceholder"].text ?? ""
        let owner = OwnerText.shown(message.owner ?? topic?.owner ?? "")
        title = TextFitting.prefix(
            of: (own.isEmpty ? content.placeholderTitle : own).replacing("{owner}", with: owner),
            bytes: Self.maximumBytes
        )
        body = content.placeholderBody
        isForAndroid = !own.isEmpty
    }

    /// Longer titles are cut, so that a name cannot crowd out what is encrypted.
    private static let maximumBytes = 256
}

/// What the server knows, beside the message, of how pushes look.
package struct PushContent: Sendable {
    /// Categories by their id; a message may name others, which only its app knows.
    package var categories: [String: NotificationCategory]
    /// States by their name in lower case: a message's category may be one of them.
    package var states: [String: NotificationState]
    /// Shown in place of an encrypted message, which the app alone can read.
    package var placeholderTitle = "New message"
    /// The text beneath `placeholderTitle`.
    package var placeholderBody = "Open the app to read it."
    /// Makes the links of an incident's buttons; nil: pushes carry none.
    package var links: IncidentLinks?
    /// The cursor of a message, as clients get it from the API; nil: pushes carry none.
    package var cursor: (@Sendable (Record) -> String?)?

    /// What the server adds to pushes; by default nothing.
    package init(
        categories: [NotificationCategory] = [],
        states: [NotificationState] = [],
        cursor: (@Sendable (Record) -> String?)? = nil
    ) {
        self.categories = Dictionary(categories.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.states = Dictionary(states.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        self.cursor = cursor
    }

    /// The state that a message's category is; nil: it is a category.
    func state(_ category: String) -> NotificationState? {
        categories[category] == nil ? states[category.lowercased()] : nil
    }
}

/// What a message's priority means to each provider: the one table.
struct Urgency: Sendable {
    /// Apple's `interruption-level`; `critical` is asked for only where the app may.
    let interruptionLevel: String
    /// Apple's `apns-priority`: 10 at once, 5 as the device's power allows.
    let apnsPriority: Int
    /// Whether Android wakes the device.
    let wakesAndroid: Bool
    /// Android's `notification_priority`.
    let notificationPriority: String
    /// `Urgency` of RFC 8030.
    let web: String
    /// Whether it sounds unless the publisher says otherwise.
    let sounds: Bool

    private static let table = [
        Urgency("passive", 5, false, "PRIORITY_MIN", "very-low", sounds: false),
        Urgency("passive", 5, false, "PRIORITY_LOW", "low", sounds: false),
        Urgency("active", 10, true, "PRIORITY_DEFAULT", "high", sounds: true),
        Urgency("time-sensitive", 10, true, "PRIORITY_HIGH", "high", sounds: true),
        Urgency("critical", 10, true, "PRIORITY_MAX", "high", sounds: true),
    ]

    /// The row of a priority, 1 (least) to 5 (critical).
    static func of(_ priority: Int) -> Urgency { table[min(max(priority, 1), table.count) - 1] }

    private init(
        _ interruptionLevel: String,
        _ apnsPriority: Int,
        _ wakesAndroid: Bool,
        _ notificationPriority: String,
        _ web: String,
        sounds: Bool
    ) {
        self.interruptionLevel = interruptionLevel
        self.apnsPriority = apnsPriority
        self.wakesAndroid = wakesAndroid
        self.notificationPriority = notificationPriority
        self.web = web
        self.sounds = sounds
    }
}
