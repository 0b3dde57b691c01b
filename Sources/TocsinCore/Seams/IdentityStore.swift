/// What a read may ask about people of sign-in providers.
package protocol IdentityReading {
    /// The identity of this subject of an issuer, if it signed in or was linked.
    func identity(issuer: String, subject: String) throws(StoreError) -> SignInIdentity?
    /// The identity with this id, if there is one.
    func identity(_ id: String) throws(StoreError) -> SignInIdentity?
    /// Identities that are linked to a local user, the oldest first; to anybody for nil, by user.
    func linkedIdentities(of user: UserID?) throws(StoreError) -> [SignInIdentity]
    /// Whether a provider's person, by the id of a user of their own, has a topic or a device or is
    /// a member (`UserFacts`).
    func hasThings(_ user: UserID) throws(StoreError) -> Bool
}

/// How identities are written.
package protocol IdentityWriting {
    /// Keeps others from writing the identity of this subject until the write ends, whether or not
    /// there is one.
    func holdIdentity(issuer: String, subject: String) throws(StoreError)
    /// Inserts the identity or replaces the one with its id.
    func save(_ identity: SignInIdentity) throws(StoreError)
    /// Removes the identity.
    func remove(_ identity: SignInIdentity) throws(StoreError)
}
