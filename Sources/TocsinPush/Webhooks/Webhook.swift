import Encodings
package import TocsinCore

/// An address that is told of events.
package struct Webhook: Sendable {
    /// Its name in settings, rows and logs.
    package var name: String
    /// The address that events are posted to.
    package var url: String
    /// HS256 with the secret that the receiver knows.
    package var signer: any Signer
    /// The events that it is told of.
    package var types: Set<WebhookEventType>
    /// Whether it is told whole device tokens.
    package var includesTokens: Bool
    /// Names or ids of those who may name it in schedules of their own; `*` is everybody.
    package var scheduleUsers: Set<String>
    /// Names or ids of the topics of whose incidents it is told; empty: all.
    package var topics: Set<String> = []
    /// Whether it is told the texts of incidents.
    package var includesTexts = false
    /// Whether it is given links by which incidents are answered.
    package var includesActions = false

    /// A webhook from the settings, which have been checked.
    package init(
        name: String,
        url: String,
        signer: any Signer,
        types: Set<WebhookEventType>,
        includesTokens: Bool = false,
        scheduleUsers: Set<String> = []
    ) {
        self.name = name
        self.url = url
        self.signer = signer
        self.types = types
        self.includesTokens = includesTokens
        self.scheduleUsers = scheduleUsers
    }
}

/// What a webhook's receiver checks (Standard Webhooks: signature scheme `v1`).
enum WebhookSignature {
    /// The three headers of an attempt.
    static func headers(
        of event: WebhookEvent,
        at moment: Timestamp,
        signer: any Signer
    ) throws(KeyError) -> [(name: String, value: String)] {
        let seconds = String(moment.milliseconds / 1000)
        let signed = "\(event.id.text).\(seconds).\(event.body)"
        return [
            ("webhook-id", event.id.text), ("webhook-timestamp", seconds),
            ("webhook-signature", "v1," + base64(try signer.signature(for: Array(signed.utf8)))),
        ]
    }

    /// Base 64 with padding (RFC 4648 §4).
    private static func base64(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encoded(bytes).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        return String(text) + String(repeating: "=", count: (4 - text.count % 4) % 4)
    }
}
