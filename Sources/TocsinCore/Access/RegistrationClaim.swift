/// A signed registration as a client sends it; nothing of it has been checked.
package struct RegistrationProofInput: Sendable, Hashable {
    /// `EIP191`, `EIP712`, `ED25519` or `P256`.
    package var scheme: String
    /// Who is said to have signed: a wallet's address, or a public key in base64url.
    package var address: String
    /// The signature's text, in the form of the scheme.
    package var signature: String
    /// The challenge's.
    package var nonce: String

    /// A proof of these texts.
    package init(scheme: String, address: String, signature: String, nonce: String) {
        self.scheme = scheme
        self.address = address
        self.signature = signature
        self.nonce = nonce
    }
}

/// What a signature must have been made over, as this server sees the registration.
package struct RegistrationClaim: Sendable, Hashable {
    /// The server's public name.
    package var server: String
    /// Who registers.
    package var userID: UserID
    /// The device's platform.
    package var platform: PushPlatform
    /// The token's text as the client sent it.
    package var token: String
    /// The challenge's.
    package var nonce: String
    /// When the challenge was made, in seconds since 1970.
    package var issued: Int64
    /// When the challenge ends, in seconds since 1970.
    package var expires: Int64

    /// A claim of these parts.
    package init(
        server: String,
        userID: UserID,
        platform: PushPlatform,
        token: String,
        nonce: String,
        issued: Int64,
        expires: Int64
    ) {
        self.server = server
        self.userID = userID
        self.platform = platform
        self.token = token
        self.nonce = nonce
        self.issued = issued
        self.expires = expires
    }
}

/// Finds out who signed a registration.
package protocol RegistrationProofVerifying: Sendable {
    /// The wallet's address with its checksum, or the key's text, whose signature of the claim the
    /// proof is; nil for any other proof.
    func signer(of proof: RegistrationProofInput, for claim: RegistrationClaim) -> String?
    /// The one form in which an address or a key is stored; nil for a text that is neither.
    func canonicalAddress(_ text: String) -> String?
}

/// What a client has signed to prove a registration; nothing of it is stored.
package struct ProofChallenge: Sendable, Hashable {
    /// Sealed by the server's key, for one user.
    package var nonce: String
    /// The server's public name.
    package var server: String
    /// Who asked.
    package var userID: UserID
    /// When it was made: a whole second.
    package var issuedAt: Timestamp
    /// When it ends: a whole second.
    package var expiresAt: Timestamp
}

/// A proof that held, until its registration is written.
package struct ProvenAddress: Sendable, Hashable {
    /// The wallet's address with its checksum, or the key's text.
    package var address: String
    /// The challenge's nonce, which is good once.
    package var nonce: String
    /// When the challenge was made.
    package var issuedAt: Timestamp
    /// When the challenge ends.
    package var expiresAt: Timestamp
}
