/// What a client sent to show who it is; printing it shows no secret.
public struct Credentials: Sendable, Hashable {
    /// The token, without the word "Bearer".
    public var authorization: String?
    /// The API key.
    public var apiKey: String?
    /// The secret of a browser's session, from a cookie that may count.
    ///
    /// It never does beside a token or a key.
    public var cookie: String?
    /// The address the connection came from, for limits and logs.
    public var remoteAddress: String?

    /// Credentials as they were sent.
    ///
    /// `authorization` may begin with "Bearer "; empty texts count as absent.
    public init(authorization: String? = nil, apiKey: String? = nil, remoteAddress: String? = nil) {
        self.authorization = authorization.flatMap(Self.bareToken)
        self.apiKey = apiKey.flatMap { $0.isEmpty ? nil : $0 }
        self.remoteAddress = remoteAddress
    }

    /// Whether there is neither a token nor a key nor a session.
    public var isEmpty: Bool { authorization == nil && apiKey == nil && cookie == nil }

    private static func bareToken(_ header: String) -> String? {
        var text = header.utf8[...]
        // Bit 5 tells small letters from capitals.
        if text.prefix(6).elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 }) {
            let rest = text.dropFirst(6)
            if rest.isEmpty || rest.first == UInt8(ascii: " ") { text = rest.drop { $0 == UInt8(ascii: " ") } }
        }
        return text.isEmpty ? nil : String(Substring(text))
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Which credentials are there, without their values.
    public var description: String {
        let token = authorization == nil ? "no token" : "a token"
        let key = apiKey == nil ? "no API key" : "an API key"
        let session = cookie == nil ? "" : "a session, "
        return "Credentials(\(token), \(key), \(session)from \(remoteAddress ?? "an unknown address"))"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// Shows no members.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
