/// How far a person has read a topic.
package struct ReadMark: Sendable, Hashable {
    /// The topic that was read.
    package var topicID: TopicID
    /// The last message that was read.
    package var number: MessageNumber
    /// The topic's last message.
    package var lastNumber: MessageNumber

    /// A mark from its stored values.
    package init(topicID: TopicID, number: MessageNumber, lastNumber: MessageNumber) {
        self.topicID = topicID
        self.number = number
        self.lastNumber = lastNumber
    }

    /// How many messages come after the last one read; never negative.
    package var unread: Int64 { max(0, lastNumber - number) }
}

/// What a read may ask about how far people have read.
package protocol ReadMarkReading {
    /// The marks of a person in the topics of which they are a member, by topic id.
    func readMarks(of user: UserID) throws(StoreError) -> [ReadMark]
}

/// What a write may do about how far people have read.
package protocol ReadMarkWriting {
    /// Marks a topic as read up to a number, at most its last; never goes back.
    func markRead(_ topic: TopicID, upTo number: MessageNumber, by user: UserID, now: Timestamp) throws(StoreError)
    /// Marks all topics of which a person is a member as read.
    func markAllRead(by user: UserID, now: Timestamp) throws(StoreError)
}
