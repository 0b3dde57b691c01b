import COpenSSL
import Encodings
package import TocsinCore
import TocsinContent

/// Finds out who signed a registration, by libcrypto's curves.
package struct ProofVerifier: RegistrationProofVerifying {
    /// Longer texts are no signature and no address of any scheme.
    private static let maximumBytes = 256

    /// A verifier; it holds nothing.
    package init() {}

    /// The wallet's address, or the key, that made the proof's signature; nil for other proofs.
    package func signer(of proof: RegistrationProofInput, for claim: RegistrationClaim) -> String? {
        guard let scheme = ProofScheme(rawValue: proof.scheme), proof.address.utf8.count <= Self.maximumBytes,
            proof.signature.utf8.count <= Self.maximumBytes
        else { return nil }
        let challenge = RegistrationChallenge(
            nonce: claim.nonce,
            server: claim.server,
            userID: claim.userID.text,
            issued: claim.issued,
            expires: claim.expires
        )
        let statement = RegistrationStatement(
            challenge,
            platform: claim.platform.rawValue,
            token: claim.token,
            address: proof.address,
            scheme: scheme
        )
        guard let statement, isSigned(statement, by: proof.signature) else { return nil }
        return statement.address
    }

    /// A wallet's address with its checksum, or a key's text as it is; nil for other texts.
    package func canonicalAddress(_ text: String) -> String? {
        guard text.utf8.count <= Self.maximumBytes else { return nil }
        if let wallet = WalletAddress(text) { return wallet.description }
        let count = Base64URL.decoded(text)?.count
        return count == 32 || count == P256Key.pointCount ? text : nil
    }

    private func isSigned(_ statement: RegistrationStatement, by signature: String) -> Bool {
        switch statement.scheme {
        case .eip191, .eip712:
            guard let digest = statement.signedDigest, let signature = WalletSignature(signature) else { return false }
            guard let signer = signature.signer(of: digest) else { return false }
            return signer == statement.wallet
        case .ed25519:
            guard let key = Ed25519Key(text: statement.address), let signature = Base64URL.decoded(signature) else {
                return false
            }
            return key.verifies(signature, for: Array(statement.text.utf8))
        case .p256:
            guard let point = Base64URL.decoded(statement.address), let key = try? PublicKey(point: point),
                let signature = Base64URL.decoded(signature)
            else {
                // What is no point leaves its reason in the library's queue.
                ERR_clear_error()
                return false
            }
            return key.verifies(signature, for: Array(statement.text.utf8))
        }
    }
}

/// A wallet's signature: r, s and which of two points r is of, 65 bytes in hexadecimal.
struct WalletSignature: CustomStringConvertible {
    let r: [UInt8]
    let s: [UInt8]
    let isOdd: Bool

    init(r: [UInt8], s: [UInt8], isOdd: Bool) {
        (self.r, self.s, self.isOdd) = (r, s, isOdd)
    }

    /// nil unless it is 65 bytes behind `0x`, the last of them 0, 1, 27 or 28.
    init?(_ text: String) {
        guard let bytes = Hexadecimal.bytes(text, count: 65), let last = bytes.last, [0, 1, 27, 28].contains(last)
        else { return nil }
        self.init(r: Array(bytes[..<32]), s: Array(bytes[32..<64]), isOdd: last == 1 || last == 28)
    }

    /// The wallet that made it of a digest; nil where none did.
    func signer(of digest: [UInt8]) -> WalletAddress? {
        Secp256k1.publicKey(of: digest, r: r, s: s, isOdd: isOdd).map(WalletAddress.init(publicKey:))
    }

    var description: String { "0x" + Hexadecimal.text(r + s + [isOdd ? 28 : 27]) }
}

/// An Ed25519 public key (RFC 8032 §5.1).
struct Ed25519Key {
    private let handle: KeyHandle

    /// The key of 32 bytes in base64url; nil for other texts, and for the few points for which
    /// anybody can make signatures.
    init?(text: String) {
        guard let bytes = Base64URL.decoded(text), bytes.count == 32, !Self.isSmall(bytes) else { return nil }
        guard let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count) else {
            ERR_clear_error()
            return nil
        }
        handle = KeyHandle(owning: key)
    }

    /// Whether `signature` is this key's for `bytes`.
    func verifies(_ signature: [UInt8], for bytes: [UInt8]) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit(context, nil, nil, nil, handle.key) == 1
            && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    }

    /// Whether the point has an order of at most 8, whichever of its spellings this is.
    private static func isSmall(_ bytes: [UInt8]) -> Bool {
        var plain = bytes
        plain[31] &= 0x7F
        return small.contains(plain)
    }

    /// The y of these points without the sign of x: 0, 1, both of order 8, p − 1, p and p + 1.
    private static let small: Set<[UInt8]> = {
        let high = [UInt8](repeating: 0xFF, count: 30) + [0x7F]
        let zeros = [UInt8](repeating: 0, count: 31)
        let ofOrderEight = [
            "0x26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "0xc7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        ].compactMap { Hexadecimal.bytes($0, count: 32) }
        return Set([[0] + zeros, [1] + zeros, [0xEC] + high, [0xED] + high, [0xEE] + high] + ofOrderEight)
    }()
}
