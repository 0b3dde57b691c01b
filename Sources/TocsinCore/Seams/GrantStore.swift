/// What a read may ask about grants.
package protocol GrantReading {
    /// A grant by its id, whether it has ended or not.
    func grant(_ id: GrantID) throws(StoreError) -> TopicGrant?
    /// The grant of a subject in a topic, whether it has ended or not.
    func grant(of subject: GrantSubject, in topic: TopicID) throws(StoreError) -> TopicGrant?
    /// The grants of a topic behind an id, by id, those that have ended included.
    func grants(of topic: TopicID, after id: String, limit: Int) throws(StoreError) -> [TopicGrant]
    /// How many grants a topic has.
    func grantCount(of topic: TopicID) throws(StoreError) -> Int
    /// The grants of a subject behind a topic that are in force or will be, by topic; nil: from the
    /// first on.
    func grants(of subject: GrantSubject, after topic: TopicID?, limit: Int) throws(StoreError) -> [TopicGrant]
    /// The grants to these subjects that are in force and make their people members, of topics that
    /// the user is no member of and has not left since; by topic, at most so many.
    func pushGrants(to subjects: [GrantSubject], joining user: UserID, limit: Int) throws(StoreError) -> [TopicGrant]
    /// What these subjects were granted, with the owners of the topics, but for what has ended; of
    /// topics of one owner at most so many.
    func grantedTopics(of subjects: [GrantSubject], limit: Int, perOwner: Int) throws(StoreError) -> [GrantChange]
    /// Topics in which one of these subjects was given one of the roles, or had them changed, at a
    /// moment or later, by id.
    func gainedTopics(
        _ subjects: [GrantSubject],
        _ need: TopicRole,
        since moment: Timestamp
    ) throws(StoreError) -> [TopicID]
    /// Topics of which a grant of one of these subjects has ended at a moment or later, with the
    /// latest end.
    func lostTopics(_ subjects: [GrantSubject], since moment: Timestamp) throws(StoreError) -> [TopicID: Timestamp]
    /// Grants that have ended by their time, the first ones first.
    func endedGrants(limit: Int) throws(StoreError) -> [TopicGrant]
    /// What these subjects have in these topics at this moment, by the database's time.
    func roles(of subjects: [GrantSubject], in topics: [TopicID]) throws(StoreError) -> GrantedRoles
    /// The people of a local group behind a user, by id; nobody where there is no such group.
    func members(ofGroup name: String, after user: UserID?, limit: Int) throws(StoreError) -> [UserID]
    /// Whether somebody has left a topic at a moment or later, and not come back.
    func hasLeft(_ user: UserID, _ topic: TopicID, since moment: Timestamp) throws(StoreError) -> Bool
    /// People of a sign-in provider of whom something is known under this name, at most so many.
    func users(named name: String, limit: Int) throws(StoreError) -> [UserID]
}

/// How grants are written; the writer holds the topic's row.
package protocol GrantWriting {
    /// Inserts the grant or replaces the one of its subject and topic, which is shared then.
    ///
    /// Where `old` could be read by and this one cannot, the end of reading is noted.
    func save(_ grant: TopicGrant, replacing old: TopicGrant?) throws(StoreError)
    /// Removes a grant, notes that it ended, and that the topic is not shared when it was the last.
    func remove(_ grant: TopicGrant, at moment: Timestamp) throws(StoreError)
    /// Notes that a subject may read a topic no longer, by something else than the end of a grant
    /// of theirs.
    func noteEnd(of subject: GrantSubject, in topic: TopicID, at moment: Timestamp) throws(StoreError)
    /// Notes when somebody has left a topic; nil: they have come back.
    func setLeft(_ moment: Timestamp?, _ user: UserID, _ topic: TopicID) throws(StoreError)
    /// Forgets at most so many grants that ended before a moment; answers how many.
    func removeEndedGrants(before moment: Timestamp, limit: Int) throws(StoreError) -> Int
}
