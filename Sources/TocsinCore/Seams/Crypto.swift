/// Why a key could not be read or a signature not be made; the text says what to do.
package struct KeyError: Error, Sendable, CustomStringConvertible {
    /// What is wrong with the key and what to do about it, without the key itself.
    package let description: String

    /// An error with this sentence.
    package init(_ description: String) {
        self.description = description
    }
}

/// A private key that signs: ES256 as raw r‖s (64 bytes), RS256 as PKCS #1 v1.5,
/// HS256 as HMAC (RFC 7518 §3).
package protocol Signer: Sendable {
    /// `ES256`, `RS256` or `HS256`.
    var algorithm: String { get }
    /// The signature of these bytes, in the form of the algorithm.
    func signature(for bytes: [UInt8]) throws(KeyError) -> [UInt8]
}

/// Protects small values handed to clients, so that a changed or foreign one is noticed.
///
/// Page tokens are sealed, for they contain stored values. Cursors are signed: they contain only
/// positions that their readers may know.
package protocol Sealer: Sendable {
    /// Text safe in URLs that carries `bytes`, which nobody else can read, for this scope.
    func seal(_ bytes: [UInt8], scope: String) -> String
    /// The bytes, or nil when the text was changed or sealed for another scope.
    func open(_ text: String, scope: String) -> [UInt8]?
    /// Text safe in URLs that carries `bytes`, readable by anybody, and proves them for
    /// this scope; always the same.
    func sign(_ bytes: [UInt8], scope: String) -> String
    /// The bytes, or nil when the text was changed or signed for another scope.
    func verified(_ text: String, scope: String) -> [UInt8]?
}

/// Makes and checks passwords' hashes, which takes long and much memory: a few at once.
package protocol PasswordHashing: Sendable {
    /// The text to store for a password; throws `limit` while too many wait.
    func hash(_ password: String) async throws(ServiceError) -> String
    /// Whether the password is the one stored as `text`; throws `limit` while too many wait.
    func verify(_ password: String, against text: String) async throws(ServiceError) -> Bool
    /// A new password that nobody can guess.
    func makePassword() -> String
}

/// What a browser's subscription says of its keys (RFC 8291 §3).
package struct WebPushReceiver: Sendable, Hashable {
    /// A point on P-256, uncompressed: 65 bytes.
    package var publicKey: [UInt8]
    /// 16 bytes that the browser shares with us alone.
    package var authSecret: [UInt8]

    /// Keys that `WebPushCrypto.receiver` has checked.
    package init(publicKey: [UInt8], authSecret: [UInt8]) {
        self.publicKey = publicKey
        self.authSecret = authSecret
    }
}

/// Encrypts pushes so that only one browser can read them.
package protocol WebPushCrypto: Sendable {
    /// The keys as `PushSubscription.toJSON()` gives them, in base 64 for URLs; nil unless the
    /// first is a point on P-256 and the second has 16 bytes.
    func receiver(p256dh: String, auth: String) -> WebPushReceiver?
    /// The whole body of a push with `Content-Encoding: aes128gcm`, one
    /// record, under keys of its own.
    func encrypted(_ plaintext: [UInt8], for receiver: WebPushReceiver) throws(KeyError) -> [UInt8]
}
