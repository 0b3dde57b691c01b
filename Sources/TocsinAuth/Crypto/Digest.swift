import COpenSSL

/// SHA-256 and what is built on it, and SHA-512.
package enum Digest {
    /// SHA-256 of `bytes`: 32 bytes (FIPS 180-4).
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let made = EVP_Digest(bytes, bytes.count, &digest, nil, sha256Function, nil)
        precondition(made == 1, "The crypto library cannot make a SHA-256; without it no token may be trusted.")
        return digest
    }

    // Never changed and safe to share (EVP_MD_fetch(3)); fetched once, for that costs as
    // much as the hash of a token.
    private nonisolated(unsafe) static let sha256Function = EVP_MD_fetch(nil, "SHA256", nil)

    /// SHA-512 of `bytes`: 64 bytes (FIPS 180-4).
    package static func sha512(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 64)
        let made = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha512(), nil)
        precondition(made == 1, "The crypto library cannot make a SHA-512; without it no token may be trusted.")
        return digest
    }

    /// HMAC-SHA256 of `bytes`: 32 bytes (RFC 2104).
    package static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        let made = HMAC(EVP_sha256(), key, Int32(clamping: key.count), bytes, bytes.count, &code, nil)
        precondition(made != nil, "The crypto library cannot make an HMAC; without it no token may be trusted.")
        return code
    }

    /// 32 bytes of HKDF-SHA256 without salt (RFC 5869 §2): a key of its own for each purpose.
    package static func derivedKey(from key: [UInt8], purpose: [UInt8]) -> [UInt8] {
        hkdf(key, salt: [UInt8](repeating: 0, count: 32), information: purpose, count: 32)
    }

    /// HKDF-SHA256 of at most 32 bytes (RFC 5869 §2).
    package static func hkdf(_ key: [UInt8], salt: [UInt8], information: [UInt8], count: Int) -> [UInt8] {
        let extracted = hmacSHA256(key, key: salt)
        return Array(hmacSHA256(information + [1], key: extracted).prefix(count))
    }

    /// Whether both are the same, in a time that tells only their lengths.
    package static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}

/// Bytes nobody can foresee.
package enum RandomBytes {
    /// `count` unpredictable bytes from the crypto library's generator.
    package static func make(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let made = RAND_bytes(&bytes, Int32(clamping: count))
        precondition(made == 1, "The system gives no random numbers; no secret may be made without them.")
        return bytes
    }
}
