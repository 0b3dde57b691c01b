/// A local user account.
package struct Account: Sendable, Hashable {
    /// The `sub` of the account's tokens.
    package var id: UserID
    /// Unique.
    package var name: String
    /// Self-describing text (algorithm, parameters, salt, hash); nil: cannot
    /// sign in with a password.
    package var passwordHash: String?
    /// Whether all access of the account has ended until it is enabled again.
    package var isDisabled: Bool
    /// When the account was added.
    package var createdAt: Timestamp

    /// An account from its stored values; nothing is checked here.
    package init(id: UserID, name: String, passwordHash: String?, isDisabled: Bool, createdAt: Timestamp) {
        self.id = id
        self.name = name
        self.passwordHash = passwordHash
        self.isDisabled = isDisabled
        self.createdAt = createdAt
    }
}
