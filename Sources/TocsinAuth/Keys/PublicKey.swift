import COpenSSL
package import TocsinCore

/// A public key that checks signatures of its one algorithm.
package struct PublicKey: Sendable {
    private let handle: KeyHandle
    /// ES256 or RS256, by the kind of the key.
    package let algorithm: SignatureAlgorithm

    /// An RSA key from modulus and exponent, both big-endian (RFC 7518 §6.3.1).
    package init(modulus: [UInt8], exponent: [UInt8]) throws(KeyError) {
        guard (1...8).contains(exponent.count), modulus.count <= 2048 else {
            throw KeyError("The RSA key's exponent has more than 64 bits or its modulus more than 16384.")
        }
        handle = try Self.made(kind: "RSA") { builder in
            guard let n = BN_bin2bn(modulus, Int32(modulus.count), nil) else { return nil }
            guard let e = BN_bin2bn(exponent, Int32(exponent.count), nil) else {
                BN_free(n)
                return nil
            }
            defer {
                BN_free(n)
                BN_free(e)
            }
            guard BN_is_odd(e) == 1, BN_is_one(e) == 0, BN_is_odd(n) == 1,
                OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1,
                OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1
            else { return nil }
            return OSSL_PARAM_BLD_to_param(builder)
        }
        algorithm = try handle.algorithm()
    }

    /// A P-256 key from its point's coordinates, 32 bytes each (RFC 7518 §6.2.1).
    package init(x: [UInt8], y: [UInt8]) throws(KeyError) {
        guard x.count == 32, y.count == 32 else {
            throw KeyError("The coordinates of a P-256 key have 32 bytes each, these have \(x.count) and \(y.count).")
        }
        let point: [UInt8] = [4] + x + y
        handle = try Self.made(kind: "EC") { builder in
            guard OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 else {
                return nil
            }
            return point.withUnsafeBytes { bytes in
                guard
                    OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, bytes.baseAddress, bytes.count)
                        == 1
                else { return nil }
                return OSSL_PARAM_BLD_to_param(builder)
            }
        }
        algorithm = try handle.algorithm()
    }

    /// Whether `signature` is this key's for `bytes`; ES256 signatures as r‖s.
    package func verifies(_ signature: [UInt8], for bytes: [UInt8]) -> Bool {
        let foreign = algorithm == .es256 ? ECSignature.der(fromRaw: signature) : signature
        guard let foreign, let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle.key) == 1
            && EVP_DigestVerify(context, foreign, foreign.count, bytes, bytes.count) == 1
    }

    /// `EVP_PKEY_PUBLIC_KEY`, a macro that Swift does not see: all parameters and the public key.
    private static let publicKeySelection: Int32 = 0x86

    private static func made(
        kind: String,
        _ parameters: (OpaquePointer) -> UnsafeMutablePointer<OSSL_PARAM>?
    ) throws(KeyError) -> KeyHandle {
        guard let builder = OSSL_PARAM_BLD_new(), let context = EVP_PKEY_CTX_new_from_name(nil, kind, nil) else {
            throw KeyError("The crypto library has no memory left or no \(kind) keys.")
        }
        defer {
            OSSL_PARAM_BLD_free(builder)
            EVP_PKEY_CTX_free(context)
        }
        guard let list = parameters(builder) else { throw KeyError("The \(kind) key's numbers make no key.") }
        defer { OSSL_PARAM_free(list) }
        var key: OpaquePointer?
        guard EVP_PKEY_fromdata_init(context) == 1,
            EVP_PKEY_fromdata(context, &key, publicKeySelection, list) == 1, let key
        else { throw KeyError("The \(kind) key's numbers make no key: \(LibraryError.take()).") }
        return KeyHandle(owning: key)
    }
}
