/// What a read may ask about accounts, what is known of users, tokens and API keys.
package protocol AccountReading {
    /// The account with this name, if there is one.
    func account(named name: String) throws(StoreError) -> Account?
    /// The account with this id, if there is one.
    func account(_ id: UserID) throws(StoreError) -> Account?
    /// All accounts, by name.
    func accounts() throws(StoreError) -> [Account]
    /// Accounts of these properties after a name, by name, at most `limit`.
    func accounts(
        matching filter: AccountFilter,
        after name: String,
        limit: Int
    ) throws(StoreError) -> [Account]
    /// Accounts that are disabled, by id.
    func disabledAccounts() throws(StoreError) -> [Account]
    /// Whose rights have changed since a moment, and when last.
    func rightsChanged(since moment: Timestamp) throws(StoreError) -> [UserID: Timestamp]
    /// What is known of those users of whom anything is; with `moment` also whether a token that
    /// can read is good then.
    func standings(
        of users: Set<UserID>,
        tokensAt moment: Timestamp?
    ) throws(StoreError) -> [UserID: PushRights.Standing]
    /// The token with this id, if there is one.
    func token(_ id: TokenID) throws(StoreError) -> IssuedToken?
    /// The tokens of a user, or of everybody for nil.
    func tokens(of user: UserID?) throws(StoreError) -> [IssuedToken]
    /// Tokens that were revoked, by id.
    func revokedTokens() throws(StoreError) -> [IssuedToken]
    /// The key whose text has this digest, if there is one.
    func apiKey(digest: String) throws(StoreError) -> APIKey?
    /// All keys, by id.
    func apiKeys() throws(StoreError) -> [APIKey]
    /// Keys that were revoked, by id.
    func revokedAPIKeys() throws(StoreError) -> [APIKey]
}

/// How accounts, what is known of users, tokens and API keys are written.
package protocol AccountWriting {
    /// Inserts the account or replaces the one with its id.
    func save(_ account: Account) throws(StoreError)
    /// Whether no other account than this is an admin who is not disabled; it stays so until the
    /// write ends.
    func isLastAdmin(_ id: UserID) throws(StoreError) -> Bool
    /// Notes that a user was here, unless that was noted later; does nothing for users without an
    /// account.
    func noteSeen(_ user: UserID, at moment: Timestamp) throws(StoreError)
    /// Inserts what is known of a user, or replaces it.
    func save(_ facts: UserFacts) throws(StoreError)
    /// Replaces what is known of a user where anything is, unless that was said later; answers
    /// whether it did.
    func renew(_ facts: UserFacts) throws(StoreError) -> Bool
    /// Inserts the token or replaces the one with its id.
    func save(_ token: IssuedToken) throws(StoreError)
    /// Inserts the key or replaces the one with its id.
    func save(_ key: APIKey) throws(StoreError)
}

/// Which accounts are asked for; nil: whatever they are.
package struct AccountFilter: Sendable, Hashable {
    /// People or programs.
    package var kind: Account.Kind?
    /// Those with the admin flag, or without.
    package var isAdmin: Bool?
    /// Those that are disabled, or not.
    package var isDisabled: Bool?

    /// All accounts.
    package init() {}
}
