/// Why a key could not be read or a signature not be made; the text says what to do.
package struct KeyError: Error, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// A private key that signs: ES256 as raw r‖s (64 bytes), RS256 as PKCS #1 v1.5, HS256 as HMAC (RFC 7518 §3).
package protocol Signer: Sendable {
    /// `ES256`, `RS256` or `HS256`.
    var algorithm: String { get }
    func signature(for bytes: [UInt8]) throws(KeyError) -> [UInt8]
}

/// Seals small values handed to clients (page tokens, cursors), so that a changed or foreign one is noticed.
package protocol Sealer: Sendable {
    /// Text safe in URLs that carries `bytes` and proves them for this scope.
    func seal(_ bytes: [UInt8], scope: String) -> String
    /// The bytes, or nil when the text was changed or sealed for another scope.
    func open(_ text: String, scope: String) -> [UInt8]?
}
