import Encodings
import TocsinCore

/// Seals page tokens and signs cursors, both as base 64 for URLs.
///
/// What is sealed is 16 random bytes, which make a key of its own for each text, then AES-256-GCM
/// under that key: no nonce can come twice, however many are made. What is signed is the bytes,
/// then 16 bytes of HMAC-SHA256 over scope and bytes.
package struct KeySealer: Sealer {
    /// Longer texts are not looked at.
    private static let maximumTextBytes = 16 * 1024
    private static let proofCount = 16
    private static let saltCount = 16

    private let sealingKey: [UInt8]
    private let signingKey: [UInt8]

    /// Protects under keys of its own, derived from the server's.
    package init(_ serverKey: ServerKey) {
        sealingKey = serverKey.derived(for: .sealing)
        signingKey = serverKey.derived(for: .signing)
    }

    /// Encrypts the bytes for a scope, under a key of its own for each text.
    package func seal(_ bytes: [UInt8], scope: String) -> String {
        let salt = RandomBytes.make(Self.saltCount)
        do throws(KeyError) {
            return Base64URL.encoded(salt + (try cipher(salt).sealed(bytes, for: Array(scope.utf8))))
        } catch {
            preconditionFailure("\(error) Without it page tokens would tell what is stored.")
        }
    }

    /// What `seal` was given for this scope; nil for any other text.
    package func open(_ text: String, scope: String) -> [UInt8]? {
        guard let sealed = Self.decoded(text), sealed.count >= Self.saltCount else { return nil }
        let salt = Array(sealed.prefix(Self.saltCount))
        return cipher(salt).opened(Array(sealed.dropFirst(Self.saltCount)), for: Array(scope.utf8))
    }

    /// The bytes with a proof that this server made them for the scope.
    package func sign(_ bytes: [UInt8], scope: String) -> String {
        Base64URL.encoded(bytes + proof(of: bytes, scope: scope))
    }

    /// What `sign` was given for this scope; nil for any other text.
    package func verified(_ text: String, scope: String) -> [UInt8]? {
        guard let signed = Self.decoded(text), signed.count >= Self.proofCount else { return nil }
        let bytes = Array(signed.dropLast(Self.proofCount))
        guard Digest.isEqual(proof(of: bytes, scope: scope), Array(signed.suffix(Self.proofCount))) else { return nil }
        return bytes
    }

    private static func decoded(_ text: String) -> [UInt8]? {
        text.utf8.count <= maximumTextBytes ? Base64URL.decoded(text) : nil
    }

    private func cipher(_ salt: [UInt8]) -> AuthenticatedCipher {
        AuthenticatedCipher(key: Digest.hmacSHA256(salt, key: sealingKey), nonce: [UInt8](repeating: 0, count: 12))
    }

    /// The scope's length goes first, so that no scope and value can be read as another pair.
    private func proof(of bytes: [UInt8], scope: String) -> [UInt8] {
        let scope = Array(scope.utf8)
        let length = (0..<8).map { UInt8(truncatingIfNeeded: scope.count >> ($0 * 8)) }
        return Array(Digest.hmacSHA256(length + scope + bytes, key: signingKey).prefix(Self.proofCount))
    }
}
