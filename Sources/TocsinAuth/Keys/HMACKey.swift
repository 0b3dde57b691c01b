import Encodings
package import TocsinCore

/// A shared secret that signs and verifies with HS256.
///
/// It never shows what it holds.
package struct HMACKey: Signer, CustomStringConvertible, CustomReflectable {
    /// RFC 7518 §3.2 asks for as many bits as the hash has.
    package static let recommendedBytes = 32
    /// A shorter secret can be guessed from one token.
    package static let minimumBytes = 16

    private let secret: [UInt8]

    /// Throws for a secret shorter than `minimumBytes`.
    package init(secret: [UInt8]) throws(KeyError) {
        guard secret.count >= Self.minimumBytes else {
            throw KeyError(
                "The secret has \(secret.count) bytes; with fewer than \(Self.minimumBytes) it can be guessed. "
                    + "Use \(Self.recommendedBytes) or more: openssl rand -base64 32."
            )
        }
        self.secret = secret
    }

    /// Reads a webhook's secret: base 64 behind `whsec_`, as Standard Webhooks writes it, or the
    /// bytes of any other text.
    package init(webhookSecret text: String) throws(KeyError) {
        guard text.hasPrefix("whsec_") else {
            try self.init(secret: Array(text.utf8))
            return
        }
        guard let bytes = Base64URL.decodedPasted(String(text.dropFirst(6))) else {
            throw KeyError("What follows whsec_ is not base 64.")
        }
        try self.init(secret: bytes)
    }

    /// A key of 32 derived bytes.
    init(derived secret: [UInt8]) {
        self.secret = secret
    }

    /// Always `HS256`.
    package var algorithm: String { SignatureAlgorithm.hs256.rawValue }

    /// The kind of key only.
    package var description: String { "HMACKey(redacted)" }

    /// Shows nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// HMAC-SHA256 of the bytes, 32 bytes.
    package func signature(for bytes: [UInt8]) -> [UInt8] { Digest.hmacSHA256(bytes, key: secret) }

    /// Whether `signature` is this key's for `bytes`, in constant time.
    package func verifies(_ signature: [UInt8], for bytes: [UInt8]) -> Bool {
        Digest.isEqual(Digest.hmacSHA256(bytes, key: secret), signature)
    }
}
