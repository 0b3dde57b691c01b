import JSON
import TocsinCore

/// Checks what a message asks of its push, so that no provider refuses it later.
///
/// No error repeats a value: it may be ciphertext, or somebody's words.
enum PushInputCheck {
    private static let maximumTextBytes = 256
    private static let maximumAddressBytes = 2048
    private static let maximumActions = 8
    private static let levels: Set<String> = ["passive", "active", "time-sensitive", "critical"]

    /// Checks what a topic says of the pushes of its messages.
    static func check(topic input: RecordInput) throws(ServiceError) {
        for name in ["channelId", "interruptionLevel", "pushPlaceholder", "pushApp"] {
            guard let text = input[name]?.text else { continue }
            try checkText(text, name, maximumBytes: nil)
        }
        for name in ["pushIcon", "pushUrl"] {
            guard let text = input[name]?.text else { continue }
            try checkText(text, name, maximumBytes: maximumAddressBytes)
        }
        if let level = input["interruptionLevel"]?.text, !levels.contains(level) {
            throw .badRequest("interruptionLevel must be one of \(levels.sorted().joined(separator: ", ")).")
        }
        if let channel = input["channelId"]?.text, channel.isEmpty {
            throw .badRequest("channelId must not be empty; leave it out, or give null.")
        }
    }

    static func check(_ push: JSONValue?) throws(ServiceError) {
        guard let push = push?.objectValue else { return }
        for member in push {
            guard let text = member.value.stringValue else { continue }
            try checkText(text, "push.\(member.key)", maximumBytes: member.key == "image" ? maximumAddressBytes : nil)
        }
        if let badge = push["badge"]?.intValue, badge < 0 { throw .badRequest("push.badge must not be negative.") }
        if let level = push["interruptionLevel"]?.stringValue, !levels.contains(level) {
            throw .badRequest("push.interruptionLevel must be one of \(levels.sorted().joined(separator: ", ")).")
        }
        for name in ["volume", "relevanceScore"] {
            guard let value = push[name]?.doubleValue else { continue }
            guard (0...1).contains(value) else { throw .badRequest("push.\(name) must be from 0 to 1.") }
        }
        if let image = push["image"]?.stringValue, !image.lowercased().hasPrefix("https://") {
            throw .badRequest("push.image must be an https address: phones fetch nothing else.")
        }
        try check(actions: push["actions"]?.arrayValue ?? [])
    }

    private static func check(actions: [JSONValue]) throws(ServiceError) {
        guard actions.count <= maximumActions else {
            throw .badRequest("push.actions has \(actions.count) entries; at most \(maximumActions) are allowed.")
        }
        for (index, action) in actions.enumerated() {
            for name in ["id", "title", "url"] {
                guard let text = action[name]?.stringValue else { continue }
                guard !text.isEmpty else { throw .badRequest("push.actions[\(index)].\(name) must not be empty.") }
                try checkText(
                    text,
                    "push.actions[\(index)].\(name)",
                    maximumBytes: name == "url" ? maximumAddressBytes : nil
                )
            }
        }
        guard Set(actions.map { $0["id"]?.stringValue ?? "" }).count == actions.count else {
            throw .badRequest("push.actions must have an id of its own for each.")
        }
    }

    private static func checkText(_ text: String, _ field: String, maximumBytes: Int?) throws(ServiceError) {
        let limit = maximumBytes ?? maximumTextBytes
        let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        guard isPlain, text.utf8.count <= limit else {
            throw .badRequest("\(field) must be at most \(limit) bytes without control characters.")
        }
    }

    /// Whether `data` is a map of strings: FCM takes nothing else, and a phone
    /// cannot ask what was meant.
    ///
    /// Keys that FCM keeps for itself are refused here, where somebody can still rename them.
    static func check(data input: RecordInput) throws(ServiceError) {
        guard let text = input["data"]?.text else { return }
        try check(data: try texts(text, "data"))
    }

    /// The same of a map that was read.
    static func check(data map: [String: String]) throws(ServiceError) {
        if let key = map.keys.first(where: PushDataKeys.isReserved) {
            throw .badInput(
                "data has the key \"\(key.prefix(64))\", which Android phones never get: it must not be empty, from, "
                    + "message_type, or begin with google. or gcm. Rename it."
            )
        }
    }

    /// A map of strings that a field has as JSON.
    static func texts(_ json: String, _ field: String) throws(ServiceError) -> [String: String] {
        let object = (try? JSONParser.parse(json))?.objectValue
        let texts = object?.compactMap { member in member.value.stringValue.map { (member.key, $0) } }
        guard let object, let texts, texts.count == object.count else {
            throw .badInput(
                "\(field) must be JSON of an object whose values are all strings, like \"{\\\"k\\\":\\\"v\\\"}\"."
            )
        }
        return Dictionary(texts) { $1 }
    }
}
