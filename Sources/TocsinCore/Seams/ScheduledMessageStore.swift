/// What a read may ask about scheduled messages.
package protocol ScheduledMessageReading {
    /// The scheduled message with this id, if there is one.
    func scheduledMessage(_ id: String) throws(StoreError) -> ScheduledMessage?
    /// A user's scheduled messages after an id, by id, at most `limit`.
    func scheduledMessages(of user: UserID, after id: String, limit: Int) throws(StoreError) -> [ScheduledMessage]
    /// Ids of a user's messages that are still to come in a topic, and take this place on the
    /// screen.
    func delayedMessages(of user: UserID, in topic: TopicID, collapsedBy key: String) throws(StoreError) -> [String]
    /// `push` and `data` of those of a topic's last 1,000 messages whose `push` has a text in it,
    /// the newest first. There may be others among them.
    func recentPushes(in topic: TopicID, with text: String) throws(StoreError) -> [(push: String, data: String)]
    /// How many scheduled messages a user has.
    func scheduledMessageCount(of user: UserID) throws(StoreError) -> Int
}

/// How scheduled messages are written.
package protocol ScheduledMessageWriting {
    /// Inserts the scheduled message; false where its id is in use, and then nothing was written.
    func insert(_ message: ScheduledMessage) throws(StoreError) -> Bool
    /// Replaces the scheduled message with the same id and owner, if it is there.
    func save(_ message: ScheduledMessage) throws(StoreError)
    /// Removes the scheduled message, if it is there.
    func removeScheduledMessage(_ id: String) throws(StoreError)
    /// Removes the one of a user's scheduled messages that nothing follows and that came first;
    /// false where there is none.
    func removeOldestDoneScheduledMessage(of user: UserID) throws(StoreError) -> Bool
}
