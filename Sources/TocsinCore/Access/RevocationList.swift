import Synchronization

/// Local tokens, API keys and users whose access has ended, and tokens that give other rights
/// than they gave.
///
/// Every operation of a socket asks here, for the socket's token was checked when it connected.
package final class RevocationList: Sendable {
    fileprivate struct State {
        var tokens: Set<TokenID> = []
        var users: Set<UserID> = []
        /// Tokens whose rows were changed, as they are now.
        var changed: [TokenID: IssuedToken] = [:]
        /// Those of them whose end has come.
        var over: Set<TokenID> = []
        /// When the next one's end comes.
        var nextEnd: Timestamp?
    }

    private let state = Mutex(State())
    /// When the rights of users changed last, of those whose did.
    private let rights = Mutex([UserID: Timestamp]())

    /// A list that covers nobody, until the first `replace`.
    package init() {}

    /// Whether a caller who was let in before has lost access since, or has come in by rights
    /// that their token has no more.
    package func covers(_ caller: Identity) -> Bool {
        // A disabled user is refused by whatever way the id came in, a sign-in
        // provider's token included.
        state.withLock { state in
            if state.users.contains(caller.userID) { return true }
            guard let id = caller.tokenID else { return false }
            if state.tokens.contains(id) || state.over.contains(id) { return true }
            guard !state.changed.isEmpty, let row = state.changed[id] else { return false }
            return row.scope != caller.scope || row.networks != caller.networks
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
    /// each newly disabled user that are already on their way. `tokens` are those that were revoked
    /// or changed.
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
        let changed = tokens.filter { $0.revokedAt == nil && $0.changedAt != nil }
        let old = state.withLock { state in
            let old = state
            state = State(
                tokens: Set(revoked.map(\.id)),
                users: Set(disabled.map(\.id)),
                changed: Dictionary(changed.map { ($0.id, $0) }) { $1 },
                over: old.over.intersection(changed.map(\.id))
            )
            state.findNextEnd()
            return old
        }
        let narrowed = changed.filter { $0.narrowedAt != nil && $0.narrowedAt != old.changed[$0.id]?.narrowedAt }
        return (revoked.filter { !old.tokens.contains($0.id) } + narrowed.map { (id: $0.id, userID: $0.userID) })
            .map { .accessEnded($0.userID, $0.id) }
            + disabled.filter { !old.users.contains($0.id) }.flatMap { account -> [DomainEvent] in
                [.pushesUnwanted(account.id, nil, .accessEnded), .accessEnded(account.id, nil)]
            }
    }

    /// The events to publish for tokens whose end was changed and has come by a moment.
    package func ended(by moment: Timestamp) -> [DomainEvent] {
        state.withLock { state in
            guard let next = state.nextEnd, next <= moment else { return [] }
            let ended = state.changed.values.filter { $0.expiresAt <= moment && !state.over.contains($0.id) }
            state.over.formUnion(ended.map(\.id))
            state.findNextEnd()
            return ended.map { .accessEnded($0.userID, $0.id) }
        }
    }
}

extension RevocationList.State {
    fileprivate mutating func findNextEnd() {
        nextEnd = changed.values.filter { !over.contains($0.id) }.map(\.expiresAt).min()
    }
}
