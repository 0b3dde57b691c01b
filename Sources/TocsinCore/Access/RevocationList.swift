import Synchronization

/// Local tokens, API keys and users whose access has ended: asked for every operation of a socket, whose token was checked long ago.
package final class RevocationList: Sendable {
    private struct State {
        var tokens: Set<TokenID> = []
        var users: Set<UserID> = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether a caller who was let in before has lost access since.
    package func covers(_ caller: Identity) -> Bool {
        guard let token = caller.tokenID else { return false }
        return state.withLock { $0.tokens.contains(token) || $0.users.contains(caller.userID) }
    }

    /// Takes what the store says now; answers an event for each access that has ended since the last time.
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
            + disabled.filter { !old.users.contains($0.id) }.map { .accessEnded($0.id, nil) }
    }
}
