/// An address that a browser or this server is sent to: https, or plain http to this machine.
package struct EndpointAddress: Sendable, Hashable, CustomStringConvertible {
    private static let maximumBytes = 2048
    private static let loopbackHosts = ["localhost", "127.0.0.1", "[::1]"]

    /// The address, as it was given.
    package let text: String
    /// Scheme, host and port, as they were given.
    let origin: String

    /// nil for what is no such address, and for one with user information or a fragment.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumBytes, bytes.allSatisfy(Self.isPlain) else { return nil }
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { return nil }
        let rest = bytes.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard let host = Self.host(authority), isSecure || Self.loopbackHosts.contains(host) else { return nil }
        self.text = text
        origin = String(decoding: bytes[..<authority.endIndex], as: UTF8.self)
    }

    /// The address as it was given.
    package var description: String { text }

    /// Whether a query stands behind the path.
    var hasQuery: Bool { text.utf8.contains(UInt8(ascii: "?")) }

    /// The address with these joined to its query.
    func adding(_ pairs: [(name: String, value: String)]) -> String {
        text + (hasQuery ? "&" : "?") + FormText.encoded(pairs)
    }

    /// The characters of addresses (RFC 3986 §2), without `#`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\"#<>\\^`{|}".utf8.contains(byte)
    }

    /// The host in lower case of `host` or `host:port`.
    private static func host(_ authority: ArraySlice<UInt8>) -> String? {
        let text = String(decoding: authority, as: UTF8.self).lowercased()
        // An IPv6 address has colons of its own, in brackets.
        let bracket = text.hasPrefix("[") ? text.firstIndex(of: "]") : nil
        let end = bracket.map { text.index(after: $0) } ?? text.firstIndex(of: ":") ?? text.endIndex
        let host = text[..<end]
        let port = text[host.endIndex...]
        guard !host.isEmpty, host.utf8.allSatisfy(isHostByte) else { return nil }
        return port.isEmpty || isPort(port) ? String(host) : nil
    }

    private static func isPort(_ text: Substring) -> Bool {
        let digits = text.dropFirst()
        return text.hasPrefix(":") && digits.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt16(digits) != nil
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: ".-_:[]".utf8.contains(byte)
        }
    }
}
