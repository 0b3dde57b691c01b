/// Registrations with a proof of who owns the device.
extension DeviceService {
    /// What the caller has signed to prove a registration; nil where the server takes no proofs.
    package func registrationChallenge(caller: Identity) throws(ServiceError) -> ProofChallenge? {
        guard AccessPolicy.mayManageOwnThings(caller, .ofDevices, writing: true) else { throw .unauthorized }
        return environment.registrationProofs?.challenge(for: caller.userID, now: environment.time.now())
    }

    /// Who proved this registration; nil where nobody is said to.
    func proven(_ registration: Registration, caller: Identity) throws(ServiceError) -> ProvenAddress? {
        guard let proof = registration.proof else { return nil }
        guard let proofs = environment.registrationProofs else { throw RegistrationProofs.notTaken }
        // Before it is hashed.
        guard registration.token.utf8.count <= environment.limits.tokenBytes else {
            throw .badRequest("token has more than \(environment.limits.tokenBytes) bytes.")
        }
        return try proofs.check(
            proof,
            token: registration.token,
            platform: registration.platform,
            of: caller.userID,
            now: environment.time.now()
        )
    }

    /// Whether this registration must be proven: where proofs are required, unless the same token
    /// of the same user was proven before.
    func needsProof(_ wanted: Registration, continuing own: Device?) -> Bool {
        environment.registrationProofs?.areRequired == true && own?.isProven(for: wanted) != true
    }

    /// Whether an address has all the devices that it may have, which bounds a push to it.
    func isFull(
        _ proven: ProvenAddress?,
        continuing own: Device?,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Bool {
        guard let address = proven?.address, address != own?.address else { return false }
        return try writer.unlocked.devices(address: address).count >= RegistrationProofs.devicesPerAddress
    }

    /// What a caller is told whose challenge was used before.
    func refusalOfReuse(by caller: Identity) -> ServiceError {
        environment.registrationProofs?.refusalOfReuse(by: caller.userID, now: environment.time.now())
            ?? RegistrationProofs.notTaken
    }
}

extension Device {
    /// Whether the proof of this row holds for a registration as well: it was of the token and the
    /// platform.
    fileprivate func isProven(for wanted: DeviceService.Registration) -> Bool {
        address != nil && token == wanted.token && platform == wanted.platform
    }

    /// Whether this proof, or a later one of the same, registered the row: a repeat of it after a
    /// lost answer is no misuse.
    func isProven(by proven: ProvenAddress, for wanted: DeviceService.Registration) -> Bool {
        guard isProven(for: wanted), address == proven.address, let provenAt else { return false }
        return provenAt >= proven.issuedAt
    }

    /// The row with the address that proved it, now or before.
    func proven(
        by proven: ProvenAddress?,
        _ wanted: DeviceService.Registration,
        continuing own: Device?,
        now: Timestamp
    ) -> Device {
        var device = self
        if let proven {
            (device.address, device.provenAt) = (proven.address, now)
        } else if let own, own.isProven(for: wanted) {
            (device.address, device.provenAt) = (own.address, own.provenAt)
        }
        return device
    }
}

extension ServiceEnvironment {
    /// An address as devices have it; throws for a text that is none.
    func canonicalAddress(_ text: String) throws(ServiceError) -> String {
        guard let address = registrationProofs?.canonicalAddress(text) else {
            throw .badInput(
                "address must be a wallet's (0x and 40 hexadecimal digits; in mixed case with a right checksum), or a "
                    + "public key in base64url as it was registered."
            )
        }
        return address
    }
}
