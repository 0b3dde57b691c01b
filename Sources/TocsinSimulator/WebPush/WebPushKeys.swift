import COpenSSL

extension KeyPair {
    /// What stands before a P-256 point in a SubjectPublicKeyInfo (RFC 5480 §2).
    private static let pointPrefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 6, 7, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1, 6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7,
        3, 0x42, 0,
    ]

    /// The public half of a pair, from its uncompressed point: it verifies and can be
    /// agreed with, but not sign.
    static func publicHalf(point: [UInt8]) -> KeyPair? {
        guard point.count == 65, point[0] == 4 else { return nil }
        let key = (pointPrefix + point).withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var cursor = bytes.baseAddress
            return d2i_PUBKEY(nil, &cursor, bytes.count)
        }
        return key.map { KeyPair(owning: $0) }
    }

    /// The public half as an uncompressed point; empty when it is not of an elliptic curve.
    var point: [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = EVP_PKEY_get1_encoded_public_key(pointer, &bytes)
        defer { CRYPTO_free(bytes, nil, 0) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// What both sides can compute (RFC 8291 §3.1).
    func sharedSecret(with peer: KeyPair) -> [UInt8]? {
        let context = EVP_PKEY_CTX_new(pointer, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var secret = [UInt8](repeating: 0, count: 32)
        var count = secret.count
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, peer.pointer) == 1,
            EVP_PKEY_derive(context, &secret, &count) == 1, count == secret.count
        else { return nil }
        return secret
    }
}

/// A browser's side of an encrypted push (RFC 8291 §3.4, RFC 8188 §2): one record.
struct WebPushReading {
    let key: KeyPair
    let authSecret: [UInt8]

    private static let tagCount = 16
    /// Salt, record size and the length of the sender's point.
    private static let headCount = 21

    /// The text of a push; the error says what a developer has to mend.
    func plaintext(of body: [UInt8]) -> Result<[UInt8], WebPushRefusal> {
        guard body.count > Self.headCount + 65 + Self.tagCount, body[20] == 65 else {
            return refusal("the body has no aes128gcm header with a 65-byte keyid")
        }
        let salt = Array(body[..<16])
        let recordSize = body[16..<20].reduce(0) { $0 << 8 | Int($1) }
        let point = Array(body[Self.headCount..<(Self.headCount + 65)])
        let sealed = Array(body[(Self.headCount + 65)...])
        guard sealed.count <= recordSize else { return refusal("the body is more than one record") }
        guard let sender = KeyPair.publicHalf(point: point), let shared = key.sharedSecret(with: sender) else {
            return refusal("the keyid is no point on P-256")
        }
        let information = Array("WebPush: info\0".utf8) + key.point + point
        let input = Self.hkdf(shared, salt: authSecret, information, count: 32)
        let content = Self.hkdf(input, salt: salt, Array("Content-Encoding: aes128gcm\0".utf8), count: 16)
        let nonce = Self.hkdf(input, salt: salt, Array("Content-Encoding: nonce\0".utf8), count: 12)
        guard let padded = Self.opened(sealed, content, nonce) else {
            return refusal("the browser cannot decrypt it with its keys")
        }
        let end = padded.lastIndex { $0 != 0 }
        guard let end, padded[end] == 2 else { return refusal("the record does not end as the last one does") }
        return .success(Array(padded[..<end]))
    }

    private func refusal(_ detail: String) -> Result<[UInt8], WebPushRefusal> {
        .failure(WebPushRefusal(400, "BadEncryption", detail))
    }

    private static func hkdf(_ key: [UInt8], salt: [UInt8], _ information: [UInt8], count: Int) -> [UInt8] {
        Array(hmac(information + [1], key: hmac(key, key: salt)).prefix(count))
    }

    private static func hmac(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &code, nil)
        return code
    }

    private static func opened(_ sealed: [UInt8], _ key: [UInt8], _ nonce: [UInt8]) -> [UInt8]? {
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        let bytes = Array(sealed.dropLast(tagCount))
        var tag = Array(sealed.suffix(tagCount))
        var plain = [UInt8](repeating: 0, count: bytes.count)
        var (count, rest): (Int32, Int32) = (0, 0)
        guard EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1,
            EVP_DecryptUpdate(context, &plain, &count, bytes, Int32(bytes.count)) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagCount), &tag) == 1,
            EVP_DecryptFinal_ex(context, nil, &rest) == 1
        else { return nil }
        return plain
    }
}
