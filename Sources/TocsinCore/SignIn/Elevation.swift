// What a session may do only while its person has proved a short while ago who they are.
extension ServiceEnvironment {
    /// Throws `reauthenticate` where the caller came in with a session that is not elevated.
    ///
    /// Tokens prove nothing again: whoever has one of full scope may do what its user may.
    func requireElevation(of caller: Identity?) async throws(ServiceError) {
        guard let caller, let id = caller.tokenID, caller.provider != .apiKey else { return }
        let now = time.now()
        let session = try await store.reading(for: caller.reads) { reader throws(StoreError) in try reader.session(id) }
        guard let session, !session.isElevated(at: now) else { return }
        throw .reauthenticate
    }
}

extension Authority {
    /// Throws `reauthenticate` where a session is to do what needs a fresh proof of who it is.
    func requireElevation(_ environment: ServiceEnvironment) async throws(ServiceError) {
        guard case .caller(let caller) = self else { return }
        try await environment.requireElevation(of: caller)
    }
}
