import COpenSSL
package import TocsinCore

/// A private key that signs with ES256 (P-256) or RS256 (RSA of at least 2048
/// bits), whichever its kind is.
///
/// It never shows what it holds.
package struct PrivateKey: Signer, CustomStringConvertible {
    let handle: KeyHandle
    /// ES256 or RS256, by the kind of the key.
    package let kind: SignatureAlgorithm

    /// Reads a PEM text: PKCS #8, SEC 1 or PKCS #1; literal `\n` for line breaks, and base 64 of
    /// the whole PEM, are taken too.
    ///
    /// The error says what the text is instead and what to do.
    package init(pem: String) throws(KeyError) {
        handle = try PrivateKeyText(pem).handle()
        kind = try handle.algorithm()
    }

    /// The private half of a pair.
    init(_ pair: P256Key) throws(KeyError) {
        handle = pair.handle
        kind = try handle.algorithm()
    }

    /// `ES256` or `RS256`, by the kind of the key.
    package var algorithm: String { kind.rawValue }

    /// The kind of key only.
    package var description: String { "PrivateKey(\(kind.rawValue))" }

    /// ES256: r‖s, 64 bytes.
    ///
    /// RS256: PKCS #1 v1.5, as long as the modulus.
    package func signature(for bytes: [UInt8]) throws(KeyError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw KeyError("The crypto library has no memory left.") }
        defer { EVP_MD_CTX_free(context) }
        var count = 0
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle.key) == 1,
            EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1
        else { throw KeyError("The key cannot sign: \(LibraryError.take()).") }
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else {
            throw KeyError("The key cannot sign: \(LibraryError.take()).")
        }
        signature.removeLast(signature.count - count)
        guard kind == .es256 else { return signature }
        guard let raw = ECSignature.raw(fromDER: signature) else {
            throw KeyError("The crypto library made a signature that is not for P-256.")
        }
        return raw
    }
}
