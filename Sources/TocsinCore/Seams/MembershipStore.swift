/// What a read may ask about memberships, and how far members have read.
package protocol MembershipReading {
    /// All memberships of a user.
    func memberships(of user: UserID) throws(StoreError) -> [Membership]
    /// The membership of a user in a topic, if there is one.
    func membership(of user: UserID, in topic: TopicID) throws(StoreError) -> Membership?
    /// The members of a topic after a user, by user, at most `limit`.
    func members(of topic: TopicID, after user: UserID?, limit: Int) throws(StoreError) -> [Membership]
    /// The marks of a person in the topics of which they are a member, by topic id.
    func readMarks(of user: UserID) throws(StoreError) -> [ReadMark]
}

/// How memberships, and how far members have read, are written.
package protocol MembershipWriting {
    /// Inserts the membership or replaces the one of its user and topic.
    func save(_ membership: Membership) throws(StoreError)
    /// Removes the membership; fan-outs that wait still answer its devices, ended for the reason.
    func removeMembership(of user: UserID, in topic: TopicID, reason: DeliveryReason) throws(StoreError)
    /// Marks a topic as read up to a number, at most its last; never goes back.
    func markRead(_ topic: TopicID, upTo number: MessageNumber, by user: UserID, now: Timestamp) throws(StoreError)
    /// Takes a mark that a person has in a topic on over messages of an incident, as far as no
    /// other message comes between.
    func markRead(incident: String, in topic: TopicID, by user: UserID, now: Timestamp) throws(StoreError)
    /// Marks all topics of which a person is a member as read.
    func markAllRead(by user: UserID, now: Timestamp) throws(StoreError)
}

extension MembershipWriting {
    /// Removes the membership of somebody who leaves the topic.
    package func removeMembership(of user: UserID, in topic: TopicID) throws(StoreError) {
        try removeMembership(of: user, in: topic, reason: .leftTopic)
    }
}

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
