import TocsinCore

/// Seals page tokens and cursors: the bytes, then 16 bytes of HMAC-SHA256 over scope and bytes, in base 64 for URLs.
package struct KeySealer: Sealer {
    /// Longer texts are not looked at.
    private static let maximumTextBytes = 16 * 1024
    private static let proofCount = 16

    private let key: [UInt8]

    /// Seals under a key of its own, derived from the server's.
    package init(_ serverKey: ServerKey) {
        key = serverKey.derived(for: .sealing)
    }

    package func seal(_ bytes: [UInt8], scope: String) -> String {
        Base64URL.encoded(bytes + proof(of: bytes, scope: scope))
    }

    package func open(_ text: String, scope: String) -> [UInt8]? {
        guard text.utf8.count <= Self.maximumTextBytes, let sealed = Base64URL.decoded(text),
            sealed.count >= Self.proofCount
        else { return nil }
        let bytes = Array(sealed.dropLast(Self.proofCount))
        guard Digest.isEqual(proof(of: bytes, scope: scope), Array(sealed.suffix(Self.proofCount))) else { return nil }
        return bytes
    }

    /// The scope's length goes first, so that no scope and value can be read as another pair.
    private func proof(of bytes: [UInt8], scope: String) -> [UInt8] {
        let scope = Array(scope.utf8)
        let length = (0..<8).map { UInt8(truncatingIfNeeded: scope.count >> ($0 * 8)) }
        return Array(Digest.hmacSHA256(length + scope + bytes, key: key).prefix(Self.proofCount))
    }
}

/// Short keyed hashes that stand for owners and device tokens in logs.
package struct KeyedHash: Sendable {
    private let key: [UInt8]

    /// Hashes under a key of its own, derived from the server's.
    package init(_ serverKey: ServerKey) {
        key = serverKey.derived(for: .logHashes)
    }

    /// Twelve hexadecimal digits: the same for the same text on this server, and telling nothing of it.
    package func hash(_ text: String) -> String {
        Digest.hmacSHA256(Array(text.utf8), key: key).prefix(6)
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            .joined()
    }
}
