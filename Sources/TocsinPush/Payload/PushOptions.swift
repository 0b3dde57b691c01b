import JSON

/// What a publisher may say about how a push is shown (`PushInput` of the schema).
package struct PushOptions: Sendable, Hashable {
    /// A sound's name; `none` or empty for silence.
    package var sound: String?
    package var badge: Int64?
    /// Nothing is shown: the badge alone changes, or the app alone learns of it.
    package var silent = false
    package var mutableContent = false
    package var threadID: String?
    package var channelID: String?
    /// Apple's word: `passive`, `active`, `time-sensitive` or `critical`.
    package var interruptionLevel: String?
    /// Whether a later message with the same key replaces this one on the screen.
    package var collapse = true

    package init() {}

    /// Reads the stored JSON; what is absent or unreadable keeps its default, because it was checked when it came in.
    init(json text: String?) {
        guard let text, let value = try? JSONParser.parse(text) else { return }
        sound = value["sound"]?.stringValue
        badge = value["badge"]?.intValue.map { max(0, $0) }
        silent = value["silent"]?.boolValue ?? false
        mutableContent = value["mutableContent"]?.boolValue ?? false
        threadID = value["threadId"]?.stringValue
        channelID = value["channelId"]?.stringValue
        interruptionLevel = value["interruptionLevel"]?.stringValue
        collapse = value["collapse"]?.boolValue ?? true
    }
}
