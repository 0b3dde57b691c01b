import JSON

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

    static func seconds(_ text: String) -> Double? {
        guard text.hasSuffix("s"), text.utf8.first.map({ (0x30...0x39).contains($0) }) == true else { return nil }
        let digits = text.dropLast()
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) else { return nil }
        return Double(digits)
    }
}

/// The rules of a message's `webpush` part that FCM checks before it passes it on.
enum FCMWebRules {
    static func check(_ web: JSONValue?) throws(FCMFailure) {
        if let link = web?["fcm_options"]?["link"]?.stringValue, !link.hasPrefix("https://") {
            throw FCMFailure.invalidField("message.webpush.fcm_options.link", "the link must be https")
        }
    }
}
