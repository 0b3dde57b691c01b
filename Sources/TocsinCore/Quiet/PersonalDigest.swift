/// A summary that a person has made for themselves: when it comes, and what it tells of.
package struct PersonalDigest: Sendable, Hashable {
    /// Names it, and its timer.
    package var id: String
    /// Whose it is.
    package var owner: ScheduledMessage.Owner
    /// What its owner says of it, checked.
    package var plan: Plan
    /// The message that it made last.
    package var lastMessageID: MessageID?
    /// When it came last, by its plan; also where there was nothing to tell.
    package var lastAt: Timestamp?
    /// How many times passed while nothing ran, when it came last.
    package var missed = 0
    /// When it comes next.
    package var nextAt: Timestamp?
    /// Grows with each change and each time that comes.
    package var generation: Int64 = 1
    /// When it was made.
    package var createdAt: Timestamp
    /// When its owner changed it last.
    package var updatedAt: Timestamp

    /// What is told, and when.
    package struct Plan: Sendable, Hashable {
        /// What its owner calls it; its messages begin with it.
        package var name: String
        /// These topics; nil: all of which the owner gets a digest.
        package var topicIDs: [TopicID]?
        /// Minutes after midnight.
        package var atMinutes: Int
        /// The days on which it comes, 0 is Sunday; nil: all.
        package var days: Set<Int>?
        /// By which clocks.
        package var timeZone: String
        /// Messages of a lower priority are not told of.
        package var minPriority: Int64 = 1
        /// Whether there is no message where nothing came.
        package var skipsEmpty = true
        /// The page of an app that shows the feed.
        package var url: String?

        /// A plan for each day.
        package init(name: String, atMinutes: Int, timeZone: String) {
            (self.name, self.atMinutes, self.timeZone) = (name, atMinutes, timeZone)
        }

        /// When it comes, as a cron line.
        var cron: String {
            let days = days.map { $0.sorted().map(String.init).joined(separator: ",") } ?? "*"
            return "\(atMinutes % 60) \(atMinutes / 60) * * \(days)"
        }

        /// Whether it tells of a topic, of which its owner gets a digest anyway or not.
        func tells(of topic: TopicID, isDigestMember: Bool) -> Bool { topicIDs?.contains(topic) ?? isDigestMember }
    }

    /// A digest that has not come yet.
    package init(id: String, owner: ScheduledMessage.Owner, plan: Plan, createdAt: Timestamp) {
        (self.id, self.owner, self.plan) = (id, owner, plan)
        (self.createdAt, updatedAt) = (createdAt, createdAt)
    }

    /// The timer of the next time.
    package var timer: TimerEntry? {
        nextAt.map {
            TimerEntry(kind: .ownDigest, subject: id, owner: owner.userID, dueAt: $0, generation: generation)
        }
    }
}

/// How far a person's digests of one priority have told of a topic.
package struct DigestPlace: Sendable, Hashable {
    /// The topic.
    package var topicID: TopicID
    /// Digests that tell of messages from this priority on share the place.
    package var minPriority: Int64
    /// The last message that was told of.
    package var number: MessageNumber

    /// A place from its stored values.
    package init(topicID: TopicID, minPriority: Int64, number: MessageNumber) {
        (self.topicID, self.minPriority, self.number) = (topicID, minPriority, number)
    }
}
