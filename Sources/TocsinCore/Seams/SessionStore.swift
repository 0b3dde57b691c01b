/// What a read may ask about sessions.
package protocol SessionReading {
    /// The session whose secret, or the one before it, has this digest.
    func session(digest: String) throws(StoreError) -> Session?
    /// The session, whether or not it is over.
    func session(_ id: TokenID) throws(StoreError) -> Session?
    /// All sessions of a user, the latest first, those that are over too.
    func sessions(of user: UserID) throws(StoreError) -> [Session]
    /// The same of several users.
    func sessions(of users: Set<UserID>) throws(StoreError) -> [Session]
    /// Sessions that were ended and whose time would not be over yet.
    func endedSessions(at now: Timestamp) throws(StoreError) -> [(id: TokenID, user: UserID)]
    /// How many sessions are good.
    func sessionCount(at now: Timestamp) throws(StoreError) -> Int
    /// Whether the user signed in from this network at this moment or later.
    func hasSignedIn(_ user: UserID, from network: String, since moment: Timestamp) throws(StoreError) -> Bool
    /// Whether anybody signed in from this network at this moment or later.
    func isKnown(_ network: String, since moment: Timestamp) throws(StoreError) -> Bool
    /// What is kept of the code that makes the first administrator.
    func setupCodeDigest() throws(StoreError) -> String?
}

/// How sessions are written.
package protocol SessionWriting {
    /// Inserts the session or replaces the one with its id.
    func save(_ session: Session) throws(StoreError)
    /// Notes that good sessions are used; each is over when it was idle for so long from then on.
    func noteUse(of sessions: [TokenID], at moment: Timestamp, idleUntil: Timestamp) throws(StoreError)
    /// Removes a session's row.
    func remove(_ session: TokenID) throws(StoreError)
    /// Removes rows whose time was over before a moment, at most `limit`; answers how many.
    func removeSessions(before moment: Timestamp, limit: Int) throws(StoreError) -> Int
    /// Keeps a code's digest in place of any other; nil removes it.
    func saveSetupCode(digest: String?, at moment: Timestamp) throws(StoreError)
}
