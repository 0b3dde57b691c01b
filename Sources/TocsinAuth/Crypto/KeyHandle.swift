import COpenSSL
import TocsinCore

/// Owns one key of the crypto library.
///
/// The library allows any number of threads to use one key as long as none changes it, and nothing
/// here does; hence `@unchecked Sendable`.
final class KeyHandle: @unchecked Sendable {
    let key: OpaquePointer

    /// Takes over the ownership of `key`.
    init(owning key: OpaquePointer) {
        self.key = key
    }

    deinit {
        EVP_PKEY_free(key)
    }

    /// The size of the modulus or of the curve.
    var bits: Int { Int(EVP_PKEY_get_bits(key)) }

    /// The algorithm this key signs with, by its kind alone: a key has one algorithm.
    func algorithm() throws(KeyError) -> SignatureAlgorithm {
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA:
            guard bits >= 2048 else {
                throw KeyError("The RSA key has \(bits) bits; at least 2048 are needed. Make a new key.")
            }
            return .rs256
        case EVP_PKEY_EC:
            var name = [CChar](repeating: 0, count: 80)
            var length = 0
            EVP_PKEY_get_group_name(key, &name, name.count, &length)
            let group = String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard group == "prime256v1" || group == "P-256" else {
                throw KeyError("The key is on the curve \(group); ES256 needs P-256 (also called prime256v1).")
            }
            return .es256
        default:
            throw KeyError("The key is neither RSA nor elliptic-curve P-256; only these two kinds are supported.")
        }
    }
}

/// The signatures in use (RFC 7518 §3.1, RFC 8037 §3.1).
package enum SignatureAlgorithm: String, Sendable, Hashable {
    case edDSA = "EdDSA"
    case es256 = "ES256"
    case hs256 = "HS256"
    case ps256 = "PS256"
    case rs256 = "RS256"

    /// What a token's `alg` may say that somebody else's key signed.
    static let publicNames: Set<String> = ["ES256", "Ed25519", "EdDSA", "PS256", "RS256"]

    /// Whether `alg` says this one; Ed25519 has an older name and a newer (RFC 9864 §2.2).
    func isNamed(_ name: String) -> Bool { name == rawValue || (self == .edDSA && name == "Ed25519") }
}

/// Reads the crypto library's queue of errors.
enum LibraryError {
    /// The reason of the first queued error, in the library's words; empties the queue.
    static func take() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0, let reason = ERR_reason_error_string(code) else { return "no reason given" }
        return String(cString: reason)
    }
}
