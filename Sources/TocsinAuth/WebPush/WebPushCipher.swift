import Encodings
package import TocsinCore

/// Encrypts for browsers: ECDH on P-256, HKDF-SHA-256, AES-128-GCM (RFC 8291 over RFC 8188).
package struct WebPushCipher: WebPushCrypto {
    private static let authSecretCount = 16
    private static let saltCount = 16
    /// As large as RFC 8291 §4 allows a push to be, so that one record holds any.
    private static let recordSize: UInt32 = 4096

    /// A cipher; it keeps nothing between calls.
    package init() {}

    /// The keys of a browser's subscription; nil unless they are a point on P-256 and 16 bytes.
    package func receiver(p256dh: String, auth: String) -> WebPushReceiver? {
        guard let point = Self.decoded(p256dh), let secret = Self.decoded(auth), secret.count == Self.authSecretCount,
            (try? PublicKey(point: point)) != nil
        else { return nil }
        return WebPushReceiver(publicKey: point, authSecret: secret)
    }

    /// The body of a push, under a new pair of keys and a new salt.
    package func encrypted(_ plaintext: [UInt8], for receiver: WebPushReceiver) throws(KeyError) -> [UInt8] {
        try encrypted(plaintext, for: receiver, sender: P256Key.make(), salt: RandomBytes.make(Self.saltCount))
    }

    /// The same with the sender's pair and the salt given, as the RFC's examples need it.
    package func encrypted(
        _ plaintext: [UInt8],
        for receiver: WebPushReceiver,
        sender: P256Key,
        salt: [UInt8]
    ) throws(KeyError) -> [UInt8] {
        let shared = try sender.sharedSecret(with: receiver.publicKey)
        let input = Self.inputKey(shared, receiver, sender.point)
        return try Self.encoded(plaintext, key: input, salt: salt, keyID: sender.point)
    }

    /// `aes128gcm` in one record (RFC 8188 §2): header, then the sealed text.
    package static func encoded(
        _ plaintext: [UInt8],
        key input: [UInt8],
        salt: [UInt8],
        keyID: [UInt8]
    ) throws(KeyError) -> [UInt8] {
        let size = (0..<4).map { UInt8(truncatingIfNeeded: recordSize >> (24 - 8 * $0)) }
        // 2 ends the last record, and there is but one.
        return salt + size + [UInt8(keyID.count)] + keyID
            + (try cipher(input, salt: salt).sealed(plaintext + [2]))
    }

    /// The input keying material that both sides know (RFC 8291 §3.4).
    private static func inputKey(_ shared: [UInt8], _ receiver: WebPushReceiver, _ sender: [UInt8]) -> [UInt8] {
        let information = Array("WebPush: info\0".utf8) + receiver.publicKey + sender
        return Digest.hkdf(shared, salt: receiver.authSecret, information: information, count: 32)
    }

    /// Key and nonce of the only record, whose number is 0 (RFC 8188 §2.2 and §2.3).
    private static func cipher(_ input: [UInt8], salt: [UInt8]) -> AuthenticatedCipher {
        AuthenticatedCipher(
            key: Digest.hkdf(
                input,
                salt: salt,
                information: Array("Content-Encoding: aes128gcm\0".utf8),
                count: 16
            ),
            nonce: Digest.hkdf(input, salt: salt, information: Array("Content-Encoding: nonce\0".utf8), count: 12)
        )
    }

    /// Base 64 for URLs; padding, which some libraries add, is taken off.
    private static func decoded(_ text: String) -> [UInt8]? {
        var bytes = Array(text.utf8)
        while bytes.last == UInt8(ascii: "="), bytes.count > 1 { bytes.removeLast() }
        return Base64URL.decoded(bytes)
    }
}
