import JSON
public import TocsinContent

extension TocsinClient {
    /// What the owner of a device has to sign now; nil where the server takes no proofs.
    public func registrationChallenge() async throws(ClientError) -> RegistrationChallenge? {
        let answer = try await query(Documents.registrationChallenge)
        guard let value = answer["registrationChallenge"], !value.isNull else { return nil }
        guard let challenge = RegistrationChallenge(json: value) else {
            throw ClientError(.badAnswer, "The server's challenge is none: a part of it is missing or is no time.")
        }
        return challenge
    }

    /// Registers an installed app with a proof of whose it is.
    ///
    /// Asks for a challenge, has the signer sign it, and registers. When the answer is lost on its
    /// way, call it again: that takes a new challenge.
    public func registerPushToken(
        _ device: DeviceRegistration,
        signedBy signer: some ProofSigner
    ) async throws(ClientError) -> PushRegistration {
        guard let challenge = try await registrationChallenge() else {
            throw ClientError(
                .proofRefused,
                "The server takes no proofs. Register without one, or have its operator set TOCSIN_REGISTRATION_PROOF."
            )
        }
        var device = device
        do {
            device.proof = try await challenge.proof(platform: device.platform, token: device.token, signedBy: signer)
        } catch {
            throw ClientError(.signingFailed, "The registration was not signed: \(error)", cause: error)
        }
        return try await registerPushToken(device)
    }
}
