import Encodings
import JSON
package import TocsinCore

/// A browser's `PushSubscription`: where its pushes go, and the keys they are
/// encrypted under (Push API §8).
struct WebPushSubscription: Sendable, Hashable {
    let endpoint: WebPushEndpoint
    let receiver: WebPushReceiver
    /// The keys as texts in their one form.
    private let p256dh: String
    private let auth: String

    /// Why a text is no subscription that pushes can go to; the end of a sentence.
    struct Problem: Error, Sendable, Hashable {
        var reason: String
    }

    /// Reads what `JSON.stringify(subscription)` gives; members that mean
    /// nothing here are left out.
    init(_ text: String, crypto: any WebPushCrypto, rules: WebPushAddressRules) throws(Problem) {
        guard let value = try? JSONParser.parse(text), value.objectValue != nil else {
            throw Problem(reason: "it must be the browser's PushSubscription as JSON: JSON.stringify(subscription)")
        }
        guard let address = value["endpoint"]?.stringValue else { throw Problem(reason: "endpoint is missing") }
        endpoint = try WebPushEndpoint(address, rules: rules)
        guard let p256dh = value["keys"]?["p256dh"]?.stringValue, let auth = value["keys"]?["auth"]?.stringValue else {
            throw Problem(reason: "keys must hold p256dh and auth")
        }
        guard let receiver = crypto.receiver(p256dh: p256dh, auth: auth) else {
            throw Problem(
                reason: "keys.p256dh must be a point on P-256 (65 bytes) and keys.auth 16 bytes, both in base64url"
            )
        }
        self.receiver = receiver
        self.p256dh = Base64URL.encoded(receiver.publicKey)
        self.auth = Base64URL.encoded(receiver.authSecret)
    }

    /// The one text of this subscription, whatever order, spaces and members the browser's had.
    var text: String {
        let value: JSONValue = [
            "endpoint": .string(endpoint.text), "keys": ["p256dh": .string(p256dh), "auth": .string(auth)],
        ]
        return value.serializedString()
    }

    /// Whether a token of the platform `web` is a subscription; others are FCM's.
    static func isOne(_ token: String) -> Bool { token.utf8.first { $0 > 0x20 } == UInt8(ascii: "{") }
}

/// What a server does with browsers' subscriptions when they are registered.
package struct WebPushRegistrar: WebPushRegistering {
    /// The public key that browsers subscribe with; nil when Web Push is not set up.
    package let applicationServerKey: String?
    private let crypto: any WebPushCrypto
    private let rules: WebPushAddressRules

    /// - Parameter applicationServerKey: The public key browsers subscribe with; nil
    ///   when Web Push is not set up.
    package init(applicationServerKey: String?, crypto: any WebPushCrypto, rules: WebPushAddressRules) {
        self.applicationServerKey = applicationServerKey
        self.crypto = crypto
        self.rules = rules
    }

    /// The one text of a subscription; throws `badInput` for one that cannot be pushed to.
    package func canonicalToken(_ token: String) throws(ServiceError) -> String {
        guard WebPushSubscription.isOne(token) else { return token }
        do throws(WebPushSubscription.Problem) {
            return try WebPushSubscription(token, crypto: crypto, rules: rules).text
        } catch {
            throw .badInput("The token is no web push subscription: \(error.reason).")
        }
    }
}
