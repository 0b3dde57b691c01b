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

/// A token issued to a local user; the token's text is never stored.
package struct IssuedToken: Sendable, Hashable {
    /// The token's `jti`, by which it is revoked.
    package var id: TokenID
    /// The account that the token lets in.
    package var userID: UserID
    /// What the token may do beyond the account's rights.
    package var scope: Identity.Scope
    /// When the token was issued.
    package var createdAt: Timestamp
    /// The moment from which the token is refused.
    package var expiresAt: Timestamp
    /// When the token was revoked; nil while it was not.
    package var revokedAt: Timestamp?

    /// A token from its stored values; nothing is checked here.
    package init(
        id: TokenID,
        userID: UserID,
        scope: Identity.Scope,
        createdAt: Timestamp,
        expiresAt: Timestamp,
        revokedAt: Timestamp? = nil
    ) {
        self.id = id
        self.userID = userID
        self.scope = scope
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
    }
}
