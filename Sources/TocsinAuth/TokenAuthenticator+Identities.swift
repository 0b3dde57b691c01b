import TocsinCore

// Whom bearer tokens of a sign-in provider stand for.
extension TokenAuthenticator {
    /// What is stored of the person whom a token names.
    private struct Stored: Sendable {
        /// Whether a local account has the id that the token names.
        var isLocal: Bool
        /// Whose the identity is by a link; nil: it is a user of its own.
        var linked: (user: UserID, account: Account?, groups: [Group])?
        var isKnown: Bool
    }

    /// The user for whom a token stands that was verified: the local one to whom the person is
    /// linked, else the one whom it names.
    ///
    /// A local account's own id is named by its own tokens alone, and by no sign-in provider that
    /// gives somebody the same subject.
    func user(of identity: Identity, _ tokens: ExternalTokens) async throws(TokenProblem) -> Identity {
        let stored = try await stored(of: identity, tokens)
        guard !stored.isLocal else { throw .notAuthorized }
        guard let (user, account, groups) = stored.linked else {
            guard stored.isKnown else { throw .notAuthorized }
            noted(identity)
            return identity
        }
        guard let account, !account.isDisabled else { throw .revoked }
        var linked = identity
        (linked.userID, linked.username, linked.provider) = (user, account.name, .userPools)
        return linked.with(account, in: groups)
    }

    private func stored(of identity: Identity, _ tokens: ExternalTokens) async throws(TokenProblem) -> Stored {
        let (issuer, areToBeKnown, id) = (tokens.issuer, tokens.areToBeKnown, identity.userID)
        do throws(StoreError) {
            return try await store.read { reader throws(StoreError) in
                let found = try reader.identity(issuer: issuer, subject: id.text)
                var stored = Stored(isLocal: try reader.account(id) != nil, isKnown: true)
                if let user = found?.userID {
                    stored.linked = (user, try reader.account(user), try reader.groups(of: [user])[user] ?? [])
                } else if areToBeKnown, found == nil {
                    stored.isKnown = try reader.hasThings(id)
                }
                return stored
            }
        } catch {
            throw .unavailable(reason: error.description)
        }
    }
}
