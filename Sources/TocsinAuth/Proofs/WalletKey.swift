import COpenSSL
package import TocsinContent
package import TocsinCore

/// A wallet's private key in a file, for `tocsin register` and for tests.
///
/// It never shows what it holds.
package struct WalletKey: ProofSigner, CustomStringConvertible, CustomReflectable {
    /// How it signs: `eip191` or `eip712`.
    package let scheme: ProofScheme
    /// The wallet's address.
    package let address: String

    private let wallet: WalletAddress
    private let handle: KeyHandle

    /// The key of 32 bytes; throws for a number that is no key of the curve, and for schemes of
    /// other keys.
    package init(scalar: [UInt8], scheme: ProofScheme = .eip191) throws(KeyError) {
        guard scheme.isWallet else { throw KeyError("A wallet signs with EIP191 or EIP712, not \(scheme.rawValue).") }
        guard scalar.count == Secp256k1.scalarCount, let point = Secp256k1.publicKey(of: scalar) else {
            throw KeyError("The bytes are no private key of a wallet, which has 32 bytes and lies within the order.")
        }
        self.scheme = scheme
        wallet = WalletAddress(publicKey: point)
        address = wallet.description
        handle = try Self.handle(of: scalar)
    }

    /// Reads a file of 64 hexadecimal digits, with `0x` or without, which nobody else may read.
    package static func load(from path: String, scheme: ProofScheme = .eip191) throws(KeyError) -> WalletKey {
        guard let contents = try SecretFile.contents(of: path) else { throw KeyError("There is no file \(path).") }
        let text = String(decoding: contents.filter { !" \t\r\n".utf8.contains($0) }, as: UTF8.self)
        guard let scalar = Hexadecimal.bytes(text.hasPrefix("0x") ? text : "0x" + text, count: Secp256k1.scalarCount)
        else { throw KeyError("\(path) does not hold a wallet's private key: 64 hexadecimal digits.") }
        return try WalletKey(scalar: scalar, scheme: scheme)
    }

    /// The address only.
    package var description: String { "WalletKey(\(address))" }

    /// Shows nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// The signature in hexadecimal, with the lower `s` and 27 or 28 behind.
    package func signature(of statement: RegistrationStatement) async throws -> String {
        guard let digest = statement.signedDigest else { throw KeyError("A wallet signs digests of 32 bytes.") }
        return try signature(ofDigest: digest)
    }

    /// The same for 32 bytes that were hashed already.
    package func signature(ofDigest digest: [UInt8]) throws(KeyError) -> String {
        guard let raw = ECSignature.raw(fromDER: try sign(digest)), let s = Secp256k1.lower(Array(raw[32...])) else {
            throw KeyError("The crypto library made a signature that is not a wallet's.")
        }
        for isOdd in [false, true] {
            let signature = WalletSignature(r: Array(raw[..<32]), s: s, isOdd: isOdd)
            if signature.signer(of: digest) == wallet { return signature.description }
        }
        throw KeyError("The crypto library made a signature that is not this key's.")
    }

    /// ECDSA over the digest as it is, in DER.
    private func sign(_ digest: [UInt8]) throws(KeyError) -> [UInt8] {
        guard let context = EVP_PKEY_CTX_new(handle.key, nil) else {
            throw KeyError("The crypto library has no memory left.")
        }
        defer { EVP_PKEY_CTX_free(context) }
        var bytes = [UInt8](repeating: 0, count: 80)
        var count = bytes.count
        guard EVP_PKEY_sign_init(context) == 1, EVP_PKEY_sign(context, &bytes, &count, digest, digest.count) == 1
        else { throw KeyError("The key cannot sign: \(LibraryError.take()).") }
        return Array(bytes.prefix(count))
    }

    /// ECPrivateKey (RFC 5915 §3) with the curve's name and without the public key.
    private static func handle(of scalar: [UInt8]) throws(KeyError) -> KeyHandle {
        let curve: [UInt8] = [0xA0, 7, 6, 5, 0x2B, 0x81, 4, 0, 0x0A]
        let contents: [UInt8] = [2, 1, 1, 4, 32] + scalar + curve
        let der = [0x30, UInt8(contents.count)] + contents
        let key = der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_PrivateKey(EVP_PKEY_EC, nil, &cursor, buffer.count)
        }
        guard let key else { throw KeyError("The bytes are no private key: \(LibraryError.take()).") }
        return KeyHandle(owning: key)
    }
}
