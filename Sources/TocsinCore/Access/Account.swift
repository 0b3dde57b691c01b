/// A local user account.
package struct Account: Sendable, Hashable {
    package var id: UserID
    /// Unique.
    package var name: String
    /// Self-describing text (algorithm, parameters, salt, hash); nil: cannot sign in with a password.
    package var passwordHash: String?
    package var isDisabled: Bool
    package var createdAt: Timestamp

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
    package var id: TokenID
    package var userID: UserID
    package var scope: Identity.Scope
    package var createdAt: Timestamp
    package var expiresAt: Timestamp
    package var revokedAt: Timestamp?

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
