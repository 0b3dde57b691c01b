/// What the bridge between an app and its web view is called on both sides.
public struct BridgeNames: Sendable, Hashable {
    /// The global that holds the token.
    public let token: String
    /// The global that says `ios` or `android`.
    public let platform: String
    /// The message handler on iOS.
    public let handler: String
    /// The JavaScript interface on Android.
    public let object: String

    /// The names that `tocsin.js` knows unless a page configures others.
    public static let ngwenya = BridgeNames(
        checked: "__NGWENYA_TOKEN__",
        "__NGWENYA_PLATFORM__",
        "ngwenyaBridge",
        "NgwenyaBridge"
    )

    /// Other names; `nil` unless each is a plain identifier of JavaScript.
    public init?(token: String, platform: String, handler: String, object: String) {
        guard [token, platform, handler, object].allSatisfy(Self.isIdentifier) else { return nil }
        self.init(checked: token, platform, handler, object)
    }

    private init(checked token: String, _ platform: String, _ handler: String, _ object: String) {
        self.token = token
        self.platform = platform
        self.handler = handler
        self.object = object
    }

    private static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(0x30...0x39).contains(first), name.utf8.count <= 64 else { return false }
        return name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
        }
    }
}
