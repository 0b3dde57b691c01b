import JSON
package import TocsinCore

/// What a publisher may say about how a push is shown (`PushInput` of the schema).
package struct PushOptions: Sendable, Hashable {
    /// A second line under the title, shown by Apple's devices.
    package var subtitle: String?
    /// Address of a picture.
    package var image: String?
    /// A sound's name; `none` or empty for silence.
    package var sound: String?
    /// How loud a critical alert sounds, 0 to 1.
    package var volume: Double?
    /// The number on the app's icon; nil: the count of unread messages, where it is known.
    package var badge: Int64?
    /// Nothing is shown: the badge alone changes, or the app alone learns of it.
    package var silent = false
    /// Whether the app's extension may change the notification before it is shown.
    package var mutableContent = false
    /// What Apple's devices group notifications by; nil: the topic.
    package var threadID: String?
    /// Android's notification channel; nil: the app's default channel.
    package var channelID: String?
    /// Apple's word: `passive`, `active`, `time-sensitive` or `critical`.
    package var interruptionLevel: String?
    /// 0 to 1: which of an app's notifications the summary shows first.
    package var relevanceScore: Double?
    /// Buttons of this message alone, in place of its category's.
    package var actions: [NotificationAction] = []
    /// Title and body are ciphertext: a placeholder is shown.
    package var encrypted = false
    /// Whether a later message with the same key replaces this one on the screen.
    package var collapse = true
    /// What the server itself says that later messages take the place of.
    package var collapseKey: String?

    /// Shows a push in the usual way.
    package init() {}

    /// Reads the stored JSON; what is absent or unreadable keeps its default, because it was
    /// checked when it came in.
    init(json text: String?) {
        guard let text, let value = try? JSONParser.parse(text) else { return }
        subtitle = value["subtitle"]?.stringValue
        image = value["image"]?.stringValue
        sound = value["sound"]?.stringValue
        volume = value["volume"]?.doubleValue.map { min(1, max(0, $0)) }
        badge = value["badge"]?.intValue.map { max(0, $0) }
        silent = value["silent"]?.boolValue ?? false
        mutableContent = value["mutableContent"]?.boolValue ?? false
        threadID = value["threadId"]?.stringValue
        channelID = value["channelId"]?.stringValue
        interruptionLevel = value["interruptionLevel"]?.stringValue
        relevanceScore = value["relevanceScore"]?.doubleValue.map { min(1, max(0, $0)) }
        actions = value["actions"]?.arrayValue?.compactMap(NotificationAction.init(json:)) ?? []
        if let calls = value[ButtonCall.member]?.objectValue {
            for index in actions.indices { actions[index].isCall = calls[actions[index].id] != nil }
        }
        encrypted = value["encrypted"]?.boolValue ?? false
        collapse = value["collapse"]?.boolValue ?? true
        collapseKey = value["collapseKey"]?.stringValue
    }
}

extension NotificationAction {
    /// An action as `PushActionInput` gives it.
    init?(json: JSONValue) {
        guard let id = json["id"]?.stringValue, let title = json["title"]?.stringValue else { return nil }
        self.init(id: id, title: title, url: json["url"]?.stringValue)
    }

    /// The action as apps get it with a push: what is not said is left out, for every byte counts.
    var json: JSONValue {
        var object: JSONObject = ["id": .string(id), "title": .string(title)]
        for option in Option.allCases where options.contains(option) { object[option.rawValue] = true }
        if let textInput {
            object["textInput"] = [
                "buttonTitle": .string(textInput.buttonTitle), "placeholder": .string(textInput.placeholder),
            ]
        }
        if let url { object["url"] = .string(url) }
        if isCall { object["call"] = true }
        return .object(object)
    }
}
