import JSON

/// The rules of a message's `apns` part (`ApnsConfig`): the JSON reader's in front of FCM, FCM's
/// own, and what Apple refuses of what FCM passes on.
enum FCMAppleRules {
    private static let fields = ["headers", "payload", "fcm_options", "live_activity_token"]
    private static let options = ["analytics_label", "image"]
    /// What FCM sets itself is not among them.
    private static let headers = [
        "apns-push-type", "apns-priority", "apns-expiration", "apns-collapse-id", "apns-id", "apns-topic",
    ]
    private static let maximumBytes = 4096
    private static let path = "message.apns"

    /// Checks the part together with the message's data, which FCM puts beside `aps`.
    static func check(_ apple: JSONValue?, data: JSONValue?, notification: JSONValue?) throws(FCMFailure) {
        guard let apple else { return }
        let members = try object(apple, path)
        for field in members.keys where !fields.contains(field) {
            throw FCMFailure.unreadableField(path, "Unknown name \"\(field)\": Cannot find field.")
        }
        let headers = try checkedHeaders(members["headers"])
        try checkOptions(members["fcm_options"])
        if let token = members["live_activity_token"], token.stringValue == nil {
            throw FCMFailure.unreadableField(path + ".live_activity_token", "a string is required")
        }
        guard let payload = members["payload"] else { return }
        _ = try object(payload, path + ".payload")
        let aps = try object(payload["aps"] ?? [:], path + ".payload.aps")
        try checkAps(aps)
        try checkType(aps, headers, hasNotification: notification != nil)
        let bytes = payload.serialized().count + weight(data)
        guard bytes <= maximumBytes else { throw FCMFailure.tooBig(bytes) }
    }

    private static func object(_ value: JSONValue, _ path: String) throws(FCMFailure) -> JSONObject {
        guard let members = value.objectValue else { throw FCMFailure.unreadableField(path, "an object is required") }
        return members
    }

    private static func checkedHeaders(_ value: JSONValue?) throws(FCMFailure) -> [String: String] {
        var found: [String: String] = [:]
        for member in try object(value ?? [:], path + ".headers") {
            let field = path + ".headers[\(member.key)]"
            guard let text = member.value.stringValue else {
                throw FCMFailure.unreadableField(field, "header values are strings")
            }
            guard headers.contains(member.key) else { throw FCMFailure.invalidField(field, "no header of Apple's") }
            found[member.key] = text
        }
        if let priority = found["apns-priority"], !["1", "5", "10"].contains(priority) {
            throw FCMFailure.invalidField(path + ".headers", "apns-priority \(priority) is none of 1, 5, 10")
        }
        if let end = found["apns-expiration"], Int64(end).map({ $0 >= 0 }) != true {
            throw FCMFailure.invalidField(path + ".headers", "apns-expiration \(end) is not a time in Unix seconds")
        }
        if let id = found["apns-collapse-id"], !(1...64).contains(id.utf8.count) {
            throw FCMFailure.invalidField(path + ".headers", "apns-collapse-id has \(id.utf8.count) bytes of 1 to 64")
        }
        if let id = found["apns-id"], !LowercaseUUID.isOne(id) {
            throw FCMFailure.invalidField(path + ".headers", "apns-id \(id) is not a lowercase UUID")
        }
        return found
    }

    private static func checkOptions(_ value: JSONValue?) throws(FCMFailure) {
        for member in try object(value ?? [:], path + ".fcm_options") {
            guard options.contains(member.key) else {
                throw FCMFailure.unreadableField(path, "Unknown name \"\(member.key)\": Cannot find field.")
            }
            guard member.value.stringValue != nil else {
                throw FCMFailure.unreadableField(path + ".fcm_options.\(member.key)", "a string is required")
            }
        }
    }

    private static let numbers = ["badge", "content-available", "mutable-content"]
    private static let texts = ["category", "thread-id", "target-content-id"]
    private static let levels = ["passive", "active", "time-sensitive", "critical"]

    private static func checkAps(_ aps: JSONObject) throws(FCMFailure) {
        for name in numbers {
            guard let value = aps[name], value.intValue.map({ $0 >= 0 }) != true else { continue }
            throw FCMFailure.invalidField(path + ".payload.aps.\(name)", "a number is required")
        }
        for name in texts {
            guard let value = aps[name], value.stringValue == nil else { continue }
            throw FCMFailure.invalidField(path + ".payload.aps.\(name)", "a string is required")
        }
        for name in ["alert", "sound"] {
            guard let value = aps[name], value.stringValue == nil, value.objectValue == nil else { continue }
            throw FCMFailure.invalidField(path + ".payload.aps.\(name)", "a string or an object is required")
        }
        if let level = aps["interruption-level"], !levels.contains(level.stringValue ?? "") {
            throw FCMFailure.invalidField(path + ".payload.aps.interruption-level", "one of Apple's four levels")
        }
        if let score = aps["relevance-score"], score.doubleValue.map({ (0...1).contains($0) }) != true {
            throw FCMFailure.invalidField(path + ".payload.aps.relevance-score", "a number from 0 to 1 is required")
        }
    }

    /// The push type, given or guessed, fits what is shown.
    private static func checkType(
        _ aps: JSONObject,
        _ headers: [String: String],
        hasNotification: Bool
    ) throws(FCMFailure) {
        let isShown = hasNotification || ["alert", "badge", "sound"].contains { aps[$0] != nil }
        let type = headers["apns-push-type"] ?? (isShown ? "alert" : "background")
        guard let known = APNsPushType(rawValue: type),
            known == .alert || known == .background || known == .liveactivity
        else { throw FCMFailure.invalidField(path + ".headers", "FCM does not send push type \(type)") }
        if known == .alert, !isShown {
            throw FCMFailure.invalidField(path + ".headers", "push type alert needs alert, badge or sound in aps")
        }
        if known == .background, isShown {
            throw FCMFailure.invalidField(path + ".headers", "push type background shows nothing")
        }
        guard known == .background, (headers["apns-priority"] ?? "10") != "5" else { return }
        throw FCMFailure.invalidField(path + ".headers", "a data-only push needs apns-priority 5")
    }

    /// The bytes that data adds to the payload, beside `aps`.
    private static func weight(_ data: JSONValue?) -> Int {
        guard let data, data.objectValue?.isEmpty == false else { return 0 }
        return data.serialized().count - 1
    }
}
