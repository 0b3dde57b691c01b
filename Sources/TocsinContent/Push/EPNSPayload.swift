public import JSON

/// A payload of the wallet apps' own form: eleven texts, any of which may be missing.
///
/// It is read, never made. Of type 2 the texts are ciphertext, and `secret` has their key, itself
/// encrypted for the reader's wallet. Opening it needs the wallet's key and is the app's part.
public struct EPNSPayload: Sendable, Hashable {
    /// What the texts are.
    public enum Kind: Sendable, Hashable {
        /// Readable by anybody.
        case plain
        /// Ciphertext.
        case secret
        /// A number that is not known here, or no number.
        case other(String?)
    }

    /// The message's id (`sid`).
    public var id: String?
    /// Plain or secret (`type`).
    public var kind: Kind
    /// The sending app's name (`app`).
    public var app: String?
    /// Address of the sending app's picture (`icon`).
    public var icon: String?
    /// The sending app's address (`url`).
    public var url: String?
    /// The title (`asub`).
    public var subject: String?
    /// The text (`amsg`).
    public var message: String?
    /// What a tap opens (`acta`).
    public var callToAction: String?
    /// Address of a picture (`aimg`).
    public var image: String?
    /// The encrypted key of a secret payload (`secret`).
    public var secret: String?
    /// When it was made, in milliseconds since 1970 (`epoch`, in seconds or milliseconds).
    public var epochMilliseconds: Int64?
    /// Whether the app's own bot sent it (`appbot`), which the device notes beside the eleven.
    public var isFromBot: Bool
    /// Whether it is kept out of the list (`hidden`), which the device notes beside the eleven.
    public var isHidden: Bool

    /// The names of the eleven texts.
    public static let keys = [
        "sid", "type", "app", "icon", "url", "asub", "amsg", "acta", "aimg", "secret", "epoch",
    ]

    /// Reads the data of a push.
    public init(data: [String: String]) {
        self.init(data: JSONObject(data.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) }))
    }

    /// Reads the data of a push whose values are JSON.
    public init(data: JSONObject) {
        var fields = PushFields(data)
        id = fields.text("sid")
        switch fields.text("type") {
        case "1"?: kind = .plain
        case "2"?: kind = .secret
        case let other: kind = .other(other)
        }
        app = fields.text("app")
        icon = fields.text("icon")
        url = fields.text("url")
        subject = fields.text("asub")
        message = fields.text("amsg")
        callToAction = fields.text("acta")
        image = fields.text("aimg")
        secret = fields.text("secret")
        epochMilliseconds = fields.number("epoch").map { epoch in
            // Seconds reach this only in the year 5138.
            let (milliseconds, isTooLarge) = epoch.multipliedReportingOverflow(by: 1000)
            return epoch.magnitude < 100_000_000_000 && !isTooLarge ? milliseconds : epoch
        }
        isFromBot = fields.flag("appbot")
        isHidden = fields.flag("hidden")
    }

    /// Reads a push of this server; what the publisher did not say is taken from the message.
    public init(push: PushContent) {
        self.init(data: push.data)
        id = id ?? push.messageID
        if case .other(nil) = kind, let type = push.type {
            kind = type == "1" ? .plain : type == "2" ? .secret : .other(type)
        }
        url = url ?? push.url
        subject = subject ?? push.sealed?.title ?? push.title
        message = message ?? push.sealed?.body ?? push.body
        secret = secret ?? push.sealed?.secret
    }
}
