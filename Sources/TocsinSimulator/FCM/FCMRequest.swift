import JSON

/// A message that keeps the rules of FCM HTTP v1 (`projects.messages.send`).
struct FCMRequest {
    /// A registration token, an installation id, a topic or a condition.
    let target: String
    let isForOneDevice: Bool
    let validatesOnly: Bool
    let body: JSONValue
    /// `android.notification.tag`, else `android.collapse_key`, else Apple's collapse id.
    let replaceKey: String?
    /// `data.deliveryId`.
    let deliveryKey: String?

    private static let maximumBytes = 4096
    private static let maximumTopicBytes = 2048
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
        isForOneDevice = message["token"] != nil || message["fid"] != nil
        target = try Self.target(message)
        let android = message["android"]
        try Self.checkData(message["data"], "message.data")
        try Self.checkData(android?["data"], "message.android.data")
        try FCMAndroidRules.check(android)
        try FCMAppleRules.check(message["apns"], data: message["data"], notification: message["notification"])
        try FCMWebRules.check(message["webpush"])
        let bytes = Self.weight(message)
        guard bytes <= (isForOneDevice ? Self.maximumBytes : Self.maximumTopicBytes) else {
            throw FCMFailure.tooBig(bytes)
        }
        replaceKey =
            android?["notification"]?["tag"]?.stringValue ?? android?["collapse_key"]?.stringValue
            ?? message["apns"]?["headers"]?["apns-collapse-id"]?.stringValue
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
                || member.key.hasPrefix("gcm")
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

extension FCMRequest {
    /// What the phone gets of it; `nil` when it is only validated, or for no phone in particular.
    func arrival(nowMilliseconds: Int64) -> Arrival? {
        guard !validatesOnly, isForOneDevice else { return nil }
        let message = body["message"]
        let android = message?["android"]
        // Only the token's owner knows what phone it is: a message with a part for Apple alone is
        // taken as one for an iPhone.
        if let apple = message?["apns"], android == nil, message?["webpush"] == nil {
            return appleArrival(apple, message?["notification"])
        }
        // On the screen only a tag replaces; a collapse key does so while a message is stored.
        var arrival = Arrival(replaceKey: android?["notification"]?["tag"]?.stringValue)
        for notification in [android?["notification"], message?["notification"]] {
            if arrival.title.isEmpty { arrival.title = notification?["title"]?.stringValue ?? "" }
            if arrival.body.isEmpty { arrival.body = notification?["body"]?.stringValue ?? "" }
        }
        arrival.isShown = message?["notification"] != nil || android?["notification"] != nil
        arrival.badge = android?["notification"]?["notification_count"]?.intValue.map { Int($0) }
        if let seconds = android?["ttl"]?.stringValue.flatMap(FCMAndroidRules.seconds) {
            arrival.endsMilliseconds = nowMilliseconds + Int64(seconds * 1000)
        }
        let collapseKey = android?["collapse_key"]?.stringValue
        // A message that is not stored escapes the rate limit of collapsible ones.
        if arrival.endsMilliseconds != nowMilliseconds { arrival.throttleKey = collapseKey }
        // Notifications are collapsible, with or without a key of their own.
        arrival.keeping = arrival.isShown || collapseKey != nil ? .newestOfKey(collapseKey ?? "") : .each
        return arrival
    }

    /// What an iPhone gets of it.
    private func appleArrival(_ apple: JSONValue, _ notification: JSONValue?) -> Arrival {
        let (headers, aps) = (apple["headers"], apple["payload"]?["aps"])
        var arrival = Arrival(replaceKey: headers?["apns-collapse-id"]?.stringValue)
        let alert = aps?["alert"]
        arrival.title = (alert?["title"] ?? notification?["title"])?.stringValue ?? ""
        arrival.body = alert?.stringValue ?? (alert?["body"] ?? notification?["body"])?.stringValue ?? ""
        arrival.isShown = alert != nil || notification != nil
        arrival.badge = aps?["badge"]?.intValue.map { Int($0) }
        arrival.endsMilliseconds = headers?["apns-expiration"]?.stringValue.flatMap { Int64($0) }
            .map { $0.multipliedReportingOverflow(by: 1000) }.map { $0.overflow ? .max : $0.partialValue }
        return arrival
    }
}
