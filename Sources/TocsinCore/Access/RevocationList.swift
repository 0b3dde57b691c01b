import Synchronization

/// Local tokens, API keys and users whose access has ended: asked for every operation of a socket, whose token was checked
/// long ago.
package final class RevocationList: Sendable {
    private struct State {
        var tokens: Set<TokenID> = []
        var users: Set<UserID> = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether a caller who was let in before has lost access since.
    package func covers(_ caller: Identity) -> Bool {
        // A disabled user is refused by whatever way the id came in, a sign-in provider's token included.
        state.withLock { state in
            state.users.contains(caller.userID) || (caller.tokenID.map(state.tokens.contains) ?? false)
        }
    }

    /// Takes what the store says now; answers events for each access that has ended since the last time, and for the pushes
    /// of disabled users that somebody may have in hand.
    package func replace(tokens: [IssuedToken], accounts: [Account], keys: [APIKey] = []) -> [DomainEvent] {
        let revoked =
            tokens.filter { $0.revokedAt != nil }.map { (id: $0.id, userID: $0.userID) }
            + keys.filter { $0.revokedAt != nil }.map { (id: $0.id, userID: $0.identity.userID) }
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
