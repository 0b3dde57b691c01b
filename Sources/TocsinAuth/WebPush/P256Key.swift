import COpenSSL
package import TocsinCore

/// A pair of keys on P-256 as bytes: what Web Push exchanges, and what its settings hold.
package struct P256Key: Sendable {
    /// An uncompressed point has this many bytes.
    package static let pointCount = 65
    /// A private key has this many bytes.
    package static let scalarCount = 32

    let handle: KeyHandle
    /// The uncompressed point: 4, x, y.
    package let point: [UInt8]

    /// A new pair.
    package static func make() throws(KeyError) -> P256Key {
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else {
            throw KeyError("The crypto library has no memory left.")
        }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
            EVP_PKEY_keygen(context, &key) == 1, let key
        else { throw KeyError("A P-256 key cannot be made: \(LibraryError.take()).") }
        return try P256Key(KeyHandle(owning: key))
    }

    /// The pair of a private key's 32 bytes; the public half is computed.
    package init(scalar: [UInt8]) throws(KeyError) {
        guard scalar.count == Self.scalarCount else {
            throw KeyError("A P-256 private key has 32 bytes, this has \(scalar.count).")
        }
        // ECPrivateKey (RFC 5915 §3) with the curve's name and without the public key.
        let curve: [UInt8] = [0xA0, 10, 6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7]
        let contents: [UInt8] = [2, 1, 1, 4, 32] + scalar + curve
        let der = [0x30, UInt8(contents.count)] + contents
        let key = der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_PrivateKey(EVP_PKEY_EC, nil, &cursor, buffer.count)
        }
        guard let key else {
            throw KeyError("The 32 bytes are no P-256 private key: \(LibraryError.take()).")
        }
        try self.init(KeyHandle(owning: key))
    }

    /// The pair that a private key on P-256 is half of.
    init(_ key: PrivateKey) throws(KeyError) {
        try self.init(key.handle)
    }

    private init(_ handle: KeyHandle) throws(KeyError) {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = EVP_PKEY_get1_encoded_public_key(handle.key, &bytes)
        defer { CRYPTO_free(bytes, nil, 0) }
        guard count == Self.pointCount, let bytes else {
            throw KeyError("The crypto library gives no public key: \(LibraryError.take()).")
        }
        point = Array(UnsafeBufferPointer(start: bytes, count: count))
        self.handle = handle
    }

    /// The private key's 32 bytes.
    package func scalar() throws(KeyError) -> [UInt8] {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(handle.key, OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1 else {
            throw KeyError("The crypto library gives no private key: \(LibraryError.take()).")
        }
        defer { BN_clear_free(number) }
        var bytes = [UInt8](repeating: 0, count: Self.scalarCount)
        guard BN_bn2binpad(number, &bytes, Int32(Self.scalarCount)) == Self.scalarCount else {
            throw KeyError("The private key has more than 32 bytes; it is not for P-256.")
        }
        return bytes
    }

    /// The x coordinate of this key's product with another's point (RFC 8291 §3.1): 32 bytes.
    package func sharedSecret(with point: [UInt8]) throws(KeyError) -> [UInt8] {
        let peer = try PublicKey(point: point)
        guard let context = EVP_PKEY_CTX_new(handle.key, nil) else {
            throw KeyError("The crypto library has no memory left.")
        }
        defer { EVP_PKEY_CTX_free(context) }
        var secret = [UInt8](repeating: 0, count: Self.scalarCount)
        var count = secret.count
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, peer.handle.key) == 1,
            EVP_PKEY_derive(context, &secret, &count) == 1, count == secret.count
        else { throw KeyError("No secret can be agreed on: \(LibraryError.take()).") }
        return secret
    }
}
