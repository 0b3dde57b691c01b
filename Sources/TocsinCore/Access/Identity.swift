/// Who asks: the verified caller of one request or socket.
package struct Identity: Hashable, Sendable {
    /// What a token may do beyond its user's rights: nothing but what is listed.
    package enum Scope: Hashable, Sendable {
        /// All that the user may.
        case full
        /// Queries and subscriptions only.
        case readOnly
        /// `createMessage` to one topic (its id or name) and nothing else.
        case publish(topic: String)
    }

    /// `sub`: the key of devices and memberships.
    package var userID: UserID
    package var username: String
    package var scope: Scope
    /// Local tokens only, for revocation.
    package var tokenID: TokenID?
    package var expiresAt: Timestamp?

    package init(
        userID: UserID,
        username: String,
        scope: Scope = .full,
        tokenID: TokenID? = nil,
        expiresAt: Timestamp? = nil
    ) {
        self.userID = userID
        self.username = username
        self.scope = scope
        self.tokenID = tokenID
        self.expiresAt = expiresAt
    }

    /// The owner text stored with a row: `<sub>::<username>` (appsync.md 2.1).
    package var owner: String { userID.text + "::" + username }

    /// The stored owner texts that are this caller's: today's form and the two older ones.
    package var ownerForms: [String] { [owner, userID.text, username] }
}
