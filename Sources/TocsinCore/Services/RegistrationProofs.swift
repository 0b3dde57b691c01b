/// How devices are registered with a proof of who owns them.
///
/// A challenge is sealed and not stored. That it was used is stored, with the registration, until
/// it would have ended.
package struct RegistrationProofs: Sendable {
    /// What is done with proofs.
    package enum Mode: String, Sendable, CaseIterable {
        /// No challenges are given out, and no proofs taken.
        case off
        /// A device may be registered with a proof or without.
        case accept
        /// A new device, and a device with a new token, needs a proof.
        case require
    }

    /// How long a challenge is good.
    package static let lifetimeSeconds: Int64 = 300
    /// Devices that one address may have proven.
    package static let devicesPerAddress = 500
    /// Longer texts are no nonce of ours.
    private static let maximumNonceBytes = 256

    private let mode: Mode
    private let serverName: String
    private let sealer: any Sealer
    private let verifier: any RegistrationProofVerifying
    private let refusals = RefusedProofs()
    /// Is told why a proof was refused, in words for the log.
    private let noteRefusal: @Sendable (_ user: UserID, _ reason: String) -> Void

    /// - Parameters:
    ///   - serverName: what clients know the server by; it stands in the signed text.
    ///   - noteRefusal: is told why a proof was refused; clients are not.
    package init(
        mode: Mode,
        serverName: String,
        sealer: any Sealer,
        verifier: any RegistrationProofVerifying,
        noteRefusal: @escaping @Sendable (_ user: UserID, _ reason: String) -> Void
    ) {
        self.mode = mode
        self.serverName = serverName
        self.sealer = sealer
        self.verifier = verifier
        self.noteRefusal = noteRefusal
    }

    /// Whether registrations without a proof are refused.
    var areRequired: Bool { mode == .require }

    /// The one form in which an address is stored; nil for a text that is none.
    func canonicalAddress(_ text: String) -> String? { verifier.canonicalAddress(text) }

    /// A new challenge for a user; nil where proofs are off.
    func challenge(for user: UserID, now: Timestamp) -> ProofChallenge? {
        guard mode != .off else { return nil }
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: now.milliseconds >> Int64(56 - 8 * $0)) }
        let issued = now.milliseconds / 1000
        return ProofChallenge(
            nonce: sealer.seal(bytes, scope: Self.scope(user)),
            server: serverName,
            userID: user,
            issuedAt: Timestamp(milliseconds: issued * 1000),
            expiresAt: Timestamp(milliseconds: (issued + Self.lifetimeSeconds) * 1000)
        )
    }

    /// Who proved the registration of this token; throws `proofRefused` in the same words whatever
    /// is wrong.
    func check(
        _ proof: RegistrationProofInput,
        token: String,
        platform: PushPlatform,
        of user: UserID,
        now: Timestamp
    ) throws(ServiceError) -> ProvenAddress {
        guard mode != .off else { throw Self.notTaken }
        guard refusals.mayTry(user, now: now) else { throw Self.tooMany }
        guard proof.nonce.utf8.count <= Self.maximumNonceBytes,
            let bytes = sealer.open(proof.nonce, scope: Self.scope(user)), bytes.count == 8
        else { throw refusal(of: user, now, "the nonce is not one of this server's for this user") }
        let issued = Int64(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) / 1000
        let expires = issued + Self.lifetimeSeconds
        guard now.milliseconds < expires * 1000 else { throw refusal(of: user, now, "the challenge has expired") }
        let claim = RegistrationClaim(
            server: serverName,
            userID: user,
            platform: platform,
            token: token,
            nonce: proof.nonce,
            issued: issued,
            expires: expires
        )
        guard let signer = verifier.signer(of: proof, for: claim) else {
            throw refusal(of: user, now, "the signature is not the address's for this registration")
        }
        return ProvenAddress(
            address: signer,
            nonce: proof.nonce,
            issuedAt: Timestamp(milliseconds: issued * 1000),
            expiresAt: Timestamp(milliseconds: expires * 1000)
        )
    }

    /// The refusal of a challenge that a registration has used up.
    func refusalOfReuse(by user: UserID, now: Timestamp) -> ServiceError {
        refusal(of: user, now, "the challenge was used before")
    }

    private func refusal(of user: UserID, _ now: Timestamp, _ reason: String) -> ServiceError {
        refusals.note(user, now: now)
        noteRefusal(user, reason)
        return .proofRefused(Self.refused)
    }

    private static func scope(_ user: UserID) -> String { "registration proof " + user.text }

    private static let refused =
        "The proof does not hold for this registration. Ask for a new registrationChallenge, have its text signed as "
        + "docs/signed-registration.md says, and send the proof once, within five minutes."

    private static let tooMany = ServiceError.limit(
        "\(RefusedProofs.maximumCount) proofs of yours were refused within a minute. Wait a minute, then ask for a new "
            + "registrationChallenge."
    )

    static let full = ServiceError.limit("An address may prove at most \(devicesPerAddress) devices; remove one first.")

    static let missing = ServiceError.proofRefused(
        "This server registers a device only with a proof of who owns it: ask for registrationChallenge, have its text "
            + "signed, and call registerPushToken with the argument proof (docs/signed-registration.md)."
    )

    static let notTaken = ServiceError.badInput(
        "This server takes no proofs. Leave proof out, or have its operator set TOCSIN_REGISTRATION_PROOF."
    )
}

/// Removes the nonces of challenges that have ended.
package struct ProofNonceReaper: Sendable {
    private let store: any Store
    private let time: any TimeSource
    /// A registration that was checked just before its challenge ended may still be waiting.
    private static let graceSeconds = 600.0

    /// A reaper of a store's nonces.
    package init(store: any Store, time: any TimeSource) {
        self.store = store
        self.time = time
    }

    /// Removes all that is due now; answers how many.
    package func runOnce() async throws(ServiceError) -> Int {
        let end = time.now().adding(seconds: -Self.graceSeconds)
        return try await store.writing { writer throws(StoreError) in .success(try writer.removeNonces(before: end)) }
    }

    /// Runs every ten minutes.
    package var task: PeriodicTask {
        PeriodicTask(
            .nonces,
            everySeconds: 600,
            failure: "used challenges could not be removed"
        ) { () async throws(ServiceError) in
            try await runOnce()
        }
    }
}
