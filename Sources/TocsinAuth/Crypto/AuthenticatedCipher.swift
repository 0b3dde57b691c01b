import COpenSSL
import TocsinCore

/// AES-GCM with tags of 16 bytes (NIST SP 800-38D): AES-128 for keys of 16 bytes,
/// AES-256 for those of 32.
///
/// A nonce of 12 bytes must never come twice under one key.
struct AuthenticatedCipher {
    static let tagCount = 16

    private let key: [UInt8]
    private let nonce: [UInt8]

    init(key: [UInt8], nonce: [UInt8]) {
        precondition(
            [16, 32].contains(key.count) && nonce.count == 12,
            "AES-GCM takes no key or nonce of that length."
        )
        (self.key, self.nonce) = (key, nonce)
    }

    /// The encrypted text and its tag, which proves `context` as well.
    func sealed(_ plaintext: [UInt8], for context: [UInt8] = []) throws(KeyError) -> [UInt8] {
        guard let state = EVP_CIPHER_CTX_new() else { throw KeyError("The crypto library has no memory left.") }
        defer { EVP_CIPHER_CTX_free(state) }
        var text = [UInt8](repeating: 0, count: plaintext.count)
        var tag = [UInt8](repeating: 0, count: Self.tagCount)
        var (count, rest): (Int32, Int32) = (0, 0)
        guard EVP_EncryptInit_ex(state, function, nil, key, nonce) == 1,
            context.isEmpty || EVP_EncryptUpdate(state, nil, &rest, context, Int32(clamping: context.count)) == 1,
            EVP_EncryptUpdate(state, &text, &count, plaintext, Int32(clamping: plaintext.count)) == 1,
            Int(count) == plaintext.count, EVP_EncryptFinal_ex(state, nil, &rest) == 1, rest == 0,
            EVP_CIPHER_CTX_ctrl(state, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagCount), &tag) == 1
        else { throw KeyError("The crypto library cannot encrypt: \(LibraryError.take()).") }
        return text + tag
    }

    /// The plain text, or nil unless all of it was sealed with this key, nonce and context.
    func opened(_ sealed: [UInt8], for context: [UInt8] = []) -> [UInt8]? {
        guard sealed.count >= Self.tagCount, let state = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(state) }
        let ciphertext = Array(sealed.dropLast(Self.tagCount))
        var tag = Array(sealed.suffix(Self.tagCount))
        var text = [UInt8](repeating: 0, count: ciphertext.count)
        var (count, rest): (Int32, Int32) = (0, 0)
        guard EVP_DecryptInit_ex(state, function, nil, key, nonce) == 1,
            context.isEmpty || EVP_DecryptUpdate(state, nil, &rest, context, Int32(clamping: context.count)) == 1,
            EVP_DecryptUpdate(state, &text, &count, ciphertext, Int32(clamping: ciphertext.count)) == 1,
            Int(count) == ciphertext.count,
            EVP_CIPHER_CTX_ctrl(state, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagCount), &tag) == 1,
            EVP_DecryptFinal_ex(state, nil, &rest) == 1
        else {
            // A text that somebody changed is no fault of the library, whose
            // errors would be another's.
            ERR_clear_error()
            return nil
        }
        return text
    }

    private var function: OpaquePointer? { key.count == 16 ? EVP_aes_128_gcm() : EVP_aes_256_gcm() }
}
