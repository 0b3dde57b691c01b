/// What a read may ask about what people want of their pushes.
package protocol UserSettingsReading {
    /// The settings of those users who have said something; a write has them to itself.
    func userSettings(of users: Set<UserID>) throws(StoreError) -> [UserID: UserSettings]
    /// Deliveries to a user's devices that wait for the end of the quiet, those of the highest
    /// priority first and of each the newest.
    func heldDeliveries(of user: UserID, limit: Int) throws(StoreError) -> [HeldDelivery]
    /// The topics of which a user gets a digest, by id.
    func digestWindows(of user: UserID) throws(StoreError) -> [DigestWindow]
    /// Users who get a digest of some topic, after a user, by id.
    func digestUsers(after user: String, limit: Int) throws(StoreError) -> [UserID]
    /// Messages of a topic in this range of numbers, those of the highest priority first and of
    /// each the newest.
    func weightiestMessages(
        _ model: ModelType,
        of topic: TopicID,
        numbers: ClosedRange<MessageNumber>,
        limit: Int
    ) throws(StoreError) -> [Record]
}

/// How what people want of their pushes is written, and what was held is let go.
package protocol UserSettingsWriting {
    /// Inserts the settings or replaces those of their user.
    func save(_ settings: UserSettings) throws(StoreError)
    /// Makes held deliveries due, with a new life time; those held no more stay as they are.
    func release(_ deliveries: [Delivery], at moment: Timestamp, now: Timestamp) throws(StoreError)
    /// Settles held deliveries as told of by a summary; those held no more stay as they are.
    func settle(_ deliveries: [Delivery], inSummary message: MessageID, now: Timestamp) throws(StoreError)
    /// Notes up to which message a user's digests have told of a topic.
    func setDigestNumber(_ number: MessageNumber, of user: UserID, in topic: TopicID) throws(StoreError)
}
