import Synchronization

/// Local tokens, API keys and users whose access has ended.
///
/// Every operation of a socket asks here, for the socket's token was checked when it connected.
package final class RevocationList: Sendable {
    private struct State {
        var tokens: Set<TokenID> = []
        var users: Set<UserID> = []
    }

    private let state = Mutex(State())
    /// When the rights of users changed last, of those whose did.
    private let rights = Mutex([UserID: Timestamp]())

    /// A list that covers nobody, until the first `replace`.
    package init() {}

    /// Whether a caller who was let in before has lost access since.
    package func covers(_ caller: Identity) -> Bool {
        // A disabled user is refused by whatever way the id came in, a sign-in
        // provider's token included.
        state.withLock { state in
            state.users.contains(caller.userID) || (caller.tokenID.map(state.tokens.contains) ?? false)
        }
    }

    /// Whether the caller's groups have changed since they were verified, so that they are to be
    /// verified again.
    package func knowsNewerRights(than caller: Identity) -> Bool {
        rights.withLock { $0[caller.userID] }.map(caller.hasRights) ?? false
    }

    /// Takes when the rights of users changed last, and answers the events to publish, one for each
    /// change that was not known.
    package func note(_ changes: [UserID: Timestamp]) -> [DomainEvent] {
        rights.withLock { rights in
            changes.filter { user, moment in rights[user].map { $0 < moment } ?? true }.map { user, moment in
                rights[user] = moment
                return .rightsChanged(user, at: moment)
            }
        }
    }

    /// Takes what the store says now, and answers the events to publish.
    ///
    /// There is one for each access that has ended since the last call, and one for the pushes of
    /// each newly disabled user that are already on their way.
    package func replace(
        tokens: [IssuedToken],
        accounts: [Account],
        keys: [APIKey] = [],
        sessions: [(id: TokenID, user: UserID)] = []
    ) -> [DomainEvent] {
        let revoked =
            tokens.filter { $0.revokedAt != nil }.map { (id: $0.id, userID: $0.userID) }
            + keys.filter { $0.revokedAt != nil }.map { (id: $0.id, userID: $0.identity.userID) }
            + sessions.map { (id: $0.id, userID: $0.user) }
        let disabled = accounts.filter(\.isDisabled)
        let old = state.withLock { state in
            let old = state
            state = State(tokens: Set(revoked.map(\.id)), users: Set(disabled.map(\.id)))
            return old
        }
        return revoked.filter { !old.tokens.contains($0.id) }.map { .accessEnded($0.userID, $0.id) }
            + disabled.filter { !old.users.contains($0.id) }.flatMap { account -> [DomainEvent] in
                [.pushesUnwanted(account.id, nil, .accessEnded), .accessEnded(account.id, nil)]
            }
    }
}
