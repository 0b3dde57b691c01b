/// What a read may ask about people's own digests.
package protocol DigestReading {
    /// The digest with this id, if there is one.
    func digest(_ id: String) throws(StoreError) -> PersonalDigest?
    /// A user's digests, by id; a write has them and their places to itself.
    func digests(of user: UserID) throws(StoreError) -> [PersonalDigest]
    /// How far a user's digests have told of which topics.
    func digestPlaces(of user: UserID) throws(StoreError) -> [DigestPlace]
    /// These topics, those that are there, as windows in which all has been told.
    func windows(of topics: [TopicID]) throws(StoreError) -> [DigestWindow]
    /// How many messages of a topic in this range of numbers have at least a priority.
    func messageCount(
        of topic: TopicID,
        numbers: ClosedRange<MessageNumber>,
        minPriority: Int64
    ) throws(StoreError) -> Int64
}

/// How people's own digests are written.
package protocol DigestWriting {
    /// Inserts the digest; false where its id is in use, and then nothing was written.
    func insert(_ digest: PersonalDigest) throws(StoreError) -> Bool
    /// Replaces the digest with the same id and owner, if it is there.
    func save(_ digest: PersonalDigest) throws(StoreError)
    /// Removes the digest with this id, if it is there.
    func removeDigest(_ id: String) throws(StoreError)
    /// Inserts or replaces how far a user's digests have told of a topic.
    func save(_ place: DigestPlace, of user: UserID) throws(StoreError)
    /// Removes a place of a user's digests.
    func remove(_ place: DigestPlace, of user: UserID) throws(StoreError)
}
