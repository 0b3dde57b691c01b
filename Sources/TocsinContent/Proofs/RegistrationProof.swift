public import JSON

/// A signed registration, as `registerPushToken(proof:)` takes it.
public struct RegistrationProof: Sendable, Hashable {
    /// How it was signed.
    public let scheme: ProofScheme
    /// Who signed: a wallet's address, or a public key in base64url.
    public let address: String
    /// `0x` and 130 hexadecimal digits from a wallet; 64 bytes in base64url from a key.
    public let signature: String
    /// The challenge's.
    public let nonce: String

    /// A proof of these parts.
    public init(scheme: ProofScheme, address: String, signature: String, nonce: String) {
        self.scheme = scheme
        self.address = address
        self.signature = signature
        self.nonce = nonce
    }

    /// The value of the GraphQL input.
    public var json: JSONValue {
        [
            "scheme": .string(scheme.rawValue), "address": .string(address), "signature": .string(signature),
            "nonce": .string(nonce),
        ]
    }

    /// The text that a signer is shown; nil when `address` is no wallet's address and the scheme
    /// needs one.
    public static func text(
        _ challenge: RegistrationChallenge,
        platform: String,
        token: String,
        address: String,
        scheme: ProofScheme = .eip191
    ) -> String? {
        RegistrationStatement(challenge, platform: platform, token: token, address: address, scheme: scheme)?.text
    }
}

/// What signs registrations: a wallet app, a key of the Keychain or of the Secure Enclave.
///
/// The private key stays inside it.
public protocol ProofSigner: Sendable {
    /// How it signs.
    var scheme: ProofScheme { get }
    /// A wallet's address, or the public key in base64url: 32 bytes of Ed25519, 65 bytes of P-256.
    var address: String { get }
    /// The signature of a statement, in the scheme's form (`RegistrationProof.signature`).
    func signature(of statement: RegistrationStatement) async throws -> String
}

/// Why nothing could be signed.
public struct ProofError: Error, Sendable, CustomStringConvertible {
    /// What is wrong and what to do.
    public let description: String

    /// An error with this sentence.
    public init(_ description: String) {
        self.description = description
    }
}

extension RegistrationChallenge {
    /// Has a registration of this token signed.
    ///
    /// Throws what the signer throws, and `ProofError` when its address is none.
    public func proof(
        platform: String,
        token: String,
        signedBy signer: some ProofSigner
    ) async throws -> RegistrationProof {
        guard
            let statement = RegistrationStatement(
                self,
                platform: platform,
                token: token,
                address: signer.address,
                scheme: signer.scheme
            )
        else { throw ProofError("\(signer.address) is no wallet's address: write 0x and 40 hexadecimal digits.") }
        return RegistrationProof(
            scheme: signer.scheme,
            address: statement.address,
            signature: try await signer.signature(of: statement),
            nonce: nonce
        )
    }
}
