import JSON

/// A message that keeps the rules of FCM HTTP v1 (`projects.messages.send`).
struct FCMRequest {
    let token: String
    let validatesOnly: Bool
    let body: JSONValue
    /// `android.notification.tag`, else `android.collapse_key`.
    let replaceKey: String?
    /// `data.deliveryId`.
    let deliveryKey: String?

    private static let targets = ["token", "fid", "topic", "condition"]
    private static let messageFields =
        targets + ["name", "data", "notification", "android", "apns", "webpush", "fcm_options"]

    init(_ request: WireRequest) throws(FCMFailure) {
        body = try Self.body(request)
        guard let message = body["message"]?.objectValue else {
            throw FCMFailure.unreadableField("message", "a message object is required")
        }
        for field in message.keys where !Self.messageFields.contains(field) {
            throw FCMFailure.unreadableField("message", "Unknown name \"\(field)\": Cannot find field.")
        }
        validatesOnly = body["validate_only"]?.boolValue ?? false
        token = try Self.target(message)
        let android = message["android"]
        try Self.checkData(message["data"], "message.data")
        try Self.checkData(android?["data"], "message.android.data")
        try FCMAndroidRules.check(android)
        let bytes = Self.weight(message)
        guard bytes <= 4096 else { throw FCMFailure.tooBig(bytes) }
        replaceKey = android?["notification"]?["tag"]?.stringValue ?? android?["collapse_key"]?.stringValue
        deliveryKey = (android?["data"] ?? message["data"])?["deliveryId"]?.stringValue
    }

    private static func body(_ request: WireRequest) throws(FCMFailure) -> JSONValue {
        let mediaType = request.value("content-type")?.split(separator: ";").first?.lowercased()
        guard mediaType == "application/json" else {
            throw FCMFailure.unreadableField("content-type", "the content type must be application/json")
        }
        guard request.bodyBytes == request.body.count else { throw FCMFailure.tooBig(request.bodyBytes) }
        do throws(JSONError) {
            return try JSONParser.parse(request.body)
        } catch {
            throw FCMFailure.unreadableField("", "\(error)")
        }
    }

    private static func target(_ message: JSONObject) throws(FCMFailure) -> String {
        let given = targets.filter { message[$0] != nil }
        guard given.count == 1, let target = message[given[0]] else {
            throw FCMFailure.invalidField("message", "Exactly one of token, fid, topic or condition is required")
        }
        guard let text = target.stringValue else {
            throw FCMFailure.unreadableField("message.\(given[0])", "a string is required")
        }
        if given[0] == "token" || given[0] == "fid" {
            guard isToken(text) else { throw FCMFailure.invalidToken }
        }
        return text
    }

    private static func isToken(_ text: String) -> Bool {
        (8...4096).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
            }
    }

    private static func checkData(_ data: JSONValue?, _ path: String) throws(FCMFailure) {
        guard let data else { return }
        guard let members = data.objectValue else { throw FCMFailure.unreadableField(path, "an object is required") }
        for member in members {
            guard member.value.stringValue != nil else {
                throw FCMFailure.unreadableField("\(path)[\(member.key)]", "data values are strings")
            }
            let isReserved =
                ["from", "message_type"].contains(member.key) || member.key.hasPrefix("google.")
                || member.key.hasPrefix("gcm.")
            guard !isReserved else {
                throw FCMFailure.invalidField("\(path)[\(member.key)]", "this key is reserved")
            }
        }
    }

    /// What counts against 4,096 bytes: keys and texts of data and notification.
    private static func weight(_ message: JSONObject) -> Int {
        let android = message["android"]
        let parts = [message["data"], message["notification"], android?["data"], android?["notification"]]
        return parts.reduce(0) { $0 + ($1.map(weight) ?? 0) }
    }

    private static func weight(_ value: JSONValue) -> Int {
        switch value {
        case .object(let members): members.reduce(0) { $0 + $1.key.utf8.count + weight($1.value) }
        case .array(let elements): elements.reduce(0) { $0 + weight($1) }
        case .string(let text): text.utf8.count
        case .null, .bool, .int, .double: 1
        }
    }
}

/// The rules of a message's `android` part (`AndroidConfig`).
enum FCMAndroidRules {
    private static let fields = [
        "collapse_key", "priority", "ttl", "restricted_package_name", "data", "notification", "fcm_options",
        "direct_boot_ok", "bandwidth_constrained_ok", "restricted_satellite_ok",
    ]
    private static let maximumLifeSeconds = 2_419_200.0

    static func check(_ android: JSONValue?) throws(FCMFailure) {
        guard let android else { return }
        guard let members = android.objectValue else {
            throw FCMFailure.unreadableField("message.android", "an object is required")
        }
        for field in members.keys where !fields.contains(field) {
            throw FCMFailure.unreadableField("message.android", "Unknown name \"\(field)\": Cannot find field.")
        }
        if let priority = members["priority"] {
            guard let name = priority.stringValue, ["normal", "high"].contains(name.lowercased()) else {
                throw FCMFailure.unreadableField("message.android.priority", "priority is normal or high")
            }
        }
        if let life = members["ttl"] {
            guard let text = life.stringValue, let seconds = seconds(text) else {
                throw FCMFailure.unreadableField("message.android.ttl", "ttl is seconds followed by s, as in 3.5s")
            }
            guard seconds <= maximumLifeSeconds else {
                throw FCMFailure.invalidField("message.android.ttl", "ttl is at most 2419200s")
            }
        }
    }

    private static func seconds(_ text: String) -> Double? {
        guard text.hasSuffix("s"), text.utf8.first.map({ (0x30...0x39).contains($0) }) == true else { return nil }
        let digits = text.dropLast()
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) else { return nil }
        return Double(digits)
    }
}
