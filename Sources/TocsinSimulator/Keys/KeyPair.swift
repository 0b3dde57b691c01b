import COpenSSL

/// A key pair of libcrypto: P-256 or RSA.
///
/// `@unchecked Sendable`: the `EVP_PKEY` is never changed after it was made, and libcrypto counts
/// its references atomically.
final class KeyPair: @unchecked Sendable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        EVP_PKEY_free(pointer)
    }

    static func makeP256() throws(SimulatorError) -> KeyPair {
        try generate(EVP_PKEY_EC) { EVP_PKEY_CTX_set_ec_paramgen_curve_nid($0, NID_X9_62_prime256v1) }
    }

    static func makeRSA2048() throws(SimulatorError) -> KeyPair {
        try generate(EVP_PKEY_RSA) { EVP_PKEY_CTX_set_rsa_keygen_bits($0, 2048) }
    }

    private static func generate(
        _ kind: Int32,
        configure: (OpaquePointer) -> Int32
    ) throws(SimulatorError) -> KeyPair {
        guard let context = EVP_PKEY_CTX_new_id(kind, nil) else {
            throw SimulatorError.keys(reason: "libcrypto knows no key kind \(kind)")
        }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, configure(context) == 1, EVP_PKEY_keygen(context, &key) == 1, let key
        else {
            throw SimulatorError.keys(reason: "a key of kind \(kind) could not be generated")
        }
        return KeyPair(owning: key)
    }

    /// Reads a PEM file's text.
    init(pem: [UInt8]) throws(SimulatorError) {
        let bio = BIO_new_mem_buf(pem, Int32(pem.count))
        defer { BIO_free(bio) }
        guard let key = PEM_read_bio_PrivateKey(bio, nil, nil, nil) else {
            throw SimulatorError.keys(reason: "a key file holds no PEM private key")
        }
        pointer = key
    }

    /// The key as PKCS#8 PEM, as Apple and Google hand keys out.
    func pem() throws(SimulatorError) -> [UInt8] {
        try MemoryBIO.collect { PEM_write_bio_PKCS8PrivateKey($0, self.pointer, nil, nil, 0, nil, nil) }
    }

    /// SHA-256 signature: DER for P-256, PKCS#1 v1.5 for RSA.
    func signature(of message: [UInt8]) throws(SimulatorError) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var length = 0
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, pointer) == 1,
            EVP_DigestSign(context, nil, &length, message, message.count) == 1
        else {
            throw SimulatorError.keys(reason: "signing could not begin")
        }
        var signature = [UInt8](repeating: 0, count: length)
        guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else {
            throw SimulatorError.keys(reason: "signing failed")
        }
        return Array(signature.prefix(length))
    }

    /// Whether the signature, in the form `signature(of:)` makes, belongs to
    /// the message and this key.
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, pointer) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}

/// Collects what libcrypto writes.
enum MemoryBIO {
    static func collect(_ write: (OpaquePointer?) -> Int32) throws(SimulatorError) -> [UInt8] {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        guard write(bio) == 1 else { throw SimulatorError.keys(reason: "libcrypto could not write PEM") }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = BIO_read(bio, &chunk, Int32(chunk.count))
            guard count > 0 else { return bytes }
            bytes += chunk.prefix(Int(count))
        }
    }
}
