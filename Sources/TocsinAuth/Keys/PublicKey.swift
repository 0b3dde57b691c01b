import COpenSSL
package import TocsinCore

/// A public key that checks signatures of its one algorithm.
package struct PublicKey: Sendable {
    let handle: KeyHandle
    /// By the kind of the key, and for RSA by what it was made for.
    package let algorithm: SignatureAlgorithm

    /// An RSA key from modulus and exponent, both big-endian (RFC 7518 §6.3.1); for PS256 or RS256.
    package init(modulus: [UInt8], exponent: [UInt8], isForPSS: Bool = false) throws(KeyError) {
        guard (1...8).contains(exponent.count), modulus.count <= 2048 else {
            throw KeyError("The RSA key's exponent has more than 64 bits or its modulus more than 16384.")
        }
        guard let low = exponent.last, low % 2 == 1, exponent != [1], modulus.last.map({ $0 % 2 }) == 1 else {
            throw KeyError("The RSA key's exponent or modulus is even, or the exponent is 1.")
        }
        let numbers = DER.sequence(DER.integer(modulus) + DER.integer(exponent))
        handle = try Self.read(DER.publicKey(algorithm: DER.rsaEncryption, bits: numbers))
        let kind = try handle.algorithm()
        algorithm = isForPSS ? .ps256 : kind
    }

    /// An Ed25519 key, 32 bytes (RFC 8037 §2).
    package init(ed25519 bytes: [UInt8]) throws(KeyError) {
        guard bytes.count == 32 else {
            throw KeyError("An Ed25519 key has 32 bytes, this one has \(bytes.count).")
        }
        guard let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count) else {
            throw KeyError("The bytes make no Ed25519 key: \(LibraryError.take()).")
        }
        (handle, algorithm) = (KeyHandle(owning: key), .edDSA)
    }

    /// A P-256 key from its point's coordinates, 32 bytes each (RFC 7518 §6.2.1).
    package init(x: [UInt8], y: [UInt8]) throws(KeyError) {
        guard x.count == 32, y.count == 32 else {
            throw KeyError("The coordinates of a P-256 key have 32 bytes each, these have \(x.count) and \(y.count).")
        }
        handle = try Self.read(DER.publicKey(algorithm: DER.ecPublicKeyP256, bits: [4] + x + y))
        algorithm = try handle.algorithm()
    }

    /// A P-256 key from an uncompressed point: 4, x, y (SEC 1 §2.3.3).
    package init(point: [UInt8]) throws(KeyError) {
        guard point.count == P256Key.pointCount, point[0] == 4 else {
            throw KeyError("A P-256 point has 65 bytes, the first of them 4.")
        }
        try self.init(x: Array(point[1...32]), y: Array(point[33...]))
    }

    /// Whether `signature` is this key's for `bytes`; one by ES256 is written as r‖s.
    package func verifies(_ signature: [UInt8], for bytes: [UInt8]) -> Bool {
        let foreign = algorithm == .es256 ? ECSignature.der(fromRaw: signature) : signature
        guard let foreign, let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return isReady(context) && EVP_DigestVerify(context, foreign, foreign.count, bytes, bytes.count) == 1
    }

    /// Ed25519 hashes by itself; PS256 has a salt as long as the hash (RFC 7518 §3.5).
    private func isReady(_ context: OpaquePointer) -> Bool {
        var keyContext: OpaquePointer?
        let hash = algorithm == .edDSA ? nil : EVP_sha256()
        guard EVP_DigestVerifyInit(context, &keyContext, hash, nil, handle.key) == 1 else { return false }
        guard algorithm == .ps256 else { return true }
        return EVP_PKEY_CTX_set_rsa_padding(keyContext, RSA_PKCS1_PSS_PADDING) == 1
            && EVP_PKEY_CTX_set_rsa_pss_saltlen(keyContext, 32) == 1
    }

    /// Reads a SubjectPublicKeyInfo (RFC 5280 §4.1); libcrypto checks that a point is on its curve.
    private static func read(_ bytes: [UInt8]) throws(KeyError) -> KeyHandle {
        let key = bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_PUBKEY(nil, &cursor, buffer.count)
        }
        guard let key else { throw KeyError("The key's numbers make no key: \(LibraryError.take()).") }
        return KeyHandle(owning: key)
    }
}

/// As much of DER (X.690) as writing a public key takes.
private enum DER {
    /// rsaEncryption with its NULL parameter (RFC 8017 §A.1).
    static let rsaEncryption: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1, 5, 0]
    /// id-ecPublicKey on prime256v1 (RFC 5480 §2.1.1).
    static let ecPublicKeyP256: [UInt8] = [
        6, 7, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1, 6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7,
    ]

    static func publicKey(algorithm: [UInt8], bits: [UInt8]) -> [UInt8] {
        sequence(sequence(algorithm) + item(3, [0] + bits))
    }

    static func sequence(_ contents: [UInt8]) -> [UInt8] { item(0x30, contents) }

    /// An unsigned number, with a zero in front only where it would read as negative.
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        return item(2, (digits.first ?? 0x80) & 0x80 == 0 ? digits : [0] + digits)
    }

    private static func item(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        if contents.count < 128 { return [tag, UInt8(contents.count)] + contents }
        let digits = [16, 8, 0].map { UInt8(truncatingIfNeeded: contents.count >> $0) }.drop { $0 == 0 }
        return [tag, 0x80 | UInt8(digits.count)] + digits + contents
    }
}
