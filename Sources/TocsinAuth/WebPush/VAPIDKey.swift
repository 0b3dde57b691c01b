import COpenSSL
import Encodings
package import TocsinCore

/// The application server's pair of keys, by which push services and browsers know it (RFC 8292).
///
/// It never shows its private half but by `privateText`.
package struct VAPIDKey: Signer, CustomStringConvertible, CustomReflectable {
    private let pair: P256Key
    private let signer: PrivateKey

    /// A new pair.
    package static func make() throws(KeyError) -> VAPIDKey { try VAPIDKey(P256Key.make()) }

    /// Reads a private key: 32 bytes in base 64 for URLs, as the tools of
    /// Web Push write it, or PEM.
    package init(privateText text: String) throws(KeyError) {
        if text.contains("-----BEGIN") {
            let key = try PrivateKey(pem: text)
            guard key.kind == .es256 else { throw KeyError("The key is not on the curve P-256, which VAPID needs.") }
            try self.init(P256Key(key))
            return
        }
        guard let scalar = Base64URL.decodedPasted(text), scalar.count == P256Key.scalarCount else {
            throw KeyError(
                "A VAPID private key is 32 bytes in base 64 (43 characters), or PEM. Make a pair with: tocsin vapid create"
            )
        }
        try self.init(P256Key(scalar: scalar))
    }

    private init(_ pair: P256Key) throws(KeyError) {
        self.pair = pair
        signer = try PrivateKey(pair)
    }

    /// What browsers are given as `applicationServerKey`, and services as `k`: the
    /// point in base 64 for URLs.
    package var publicText: String { Base64URL.encoded(pair.point) }

    /// The private half, to be written into settings once.
    package func privateText() throws(KeyError) -> String { Base64URL.encoded(try pair.scalar()) }

    /// Always `ES256`.
    package var algorithm: String { signer.algorithm }

    /// An ES256 signature: r‖s, 64 bytes.
    package func signature(for bytes: [UInt8]) throws(KeyError) -> [UInt8] { try signer.signature(for: bytes) }

    /// The kind of key only.
    package var description: String { "VAPIDKey(redacted)" }

    /// Shows nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
