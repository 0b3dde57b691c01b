/// What a person wants of their own pushes.
package struct UserSettings: Sendable, Hashable {
    /// What becomes of pushes while it is quiet.
    package enum QuietMode: String, Sendable, Hashable {
        /// They are pushed when the quiet ends.
        case hold = "HOLD"
        /// They are never pushed, and in the feed as always.
        case feed = "FEED"
    }

    /// Whose settings they are.
    package var userID: UserID
    /// By which clocks the quiet hours go.
    package var timeZone = "UTC"
    /// When it is quiet, each week.
    package var quietHours: [WeeklyHours] = []
    /// Messages of this priority and above are pushed all the same.
    package var quietBreakThrough: Int64 = 5
    /// What becomes of the others.
    package var quietMode = QuietMode.hold
    /// It is quiet until then, whatever the hours.
    package var doNotDisturbUntil: Timestamp?
    /// So many are pushed one by one when the quiet ends; more become one summary.
    package var maxSingles = 5

    /// The settings of a person who has said nothing.
    package init(userID: UserID) { self.userID = userID }

    /// Hours that follow each other are searched for so long, in seconds.
    private static let searchedSeconds = 8 * 86_400.0

    /// When the quiet of a moment ends; nil when it is not quiet then.
    package func quietEnd(at now: Timestamp, in zone: ZoneRules) -> Timestamp? {
        var end = now
        let latest = now.adding(seconds: Self.searchedSeconds)
        while end < latest {
            let seconds = CivilDate.floorDivide(end.milliseconds, 1000)
            let hours = quietHours.compactMap { $0.end(at: seconds, in: zone) }.max()
            let moments = [doNotDisturbUntil, hours.map { Timestamp(milliseconds: $0 * 1000) }].compactMap(\.self)
            guard let later = moments.max(), later > end else { break }
            end = later
        }
        return end > now ? end : nil
    }

    /// What becomes of a push of this priority while it is quiet until then, nil: while it is not;
    /// nil: it is sent.
    package func wish(about priority: Int64, whileQuietUntil end: Timestamp?) -> PushWish? {
        guard priority < quietBreakThrough, let end else { return nil }
        return quietMode == .hold ? .hold(until: end) : .leaveOut(.quietHours)
    }
}

/// What a person wants of one push, where it is not to be sent at once.
package enum PushWish: Sendable, Hashable {
    /// It waits until their quiet ends.
    case hold(until: Timestamp)
    /// It is never sent, for this reason.
    case leaveOut(DeliveryReason)
}

/// How a member gets what a topic brings.
package struct MembershipWish: Sendable, Hashable {
    /// How they get the topic's messages.
    package var delivery: MembershipDelivery
    /// Messages of a lower priority are not pushed to them.
    package var minPriority: Int64

    /// What a member has said.
    package init(delivery: MembershipDelivery, minPriority: Int64) {
        (self.delivery, self.minPriority) = (delivery, minPriority)
    }

    /// What becomes of a push of this priority; nil: it is sent.
    package func wish(about priority: Int64) -> PushWish? {
        switch delivery {
        case .feed: .leaveOut(.feedOnly)
        case .digest: .leaveOut(.inDigest)
        case .now: priority < minPriority ? .leaveOut(.belowPriority) : nil
        }
    }
}

/// Whether a member gets what a topic brings as pushes.
package enum MembershipDelivery: String, Sendable, Hashable, CaseIterable {
    /// Pushed at once.
    case now = "NOW"
    /// Counted in the digest.
    case digest = "DIGEST"
    /// In the feed alone.
    case feed = "FEED"
}

extension Membership {
    /// What becomes of a push of this priority; nil: it is sent.
    package func wish(about priority: Int64) -> PushWish? {
        MembershipWish(delivery: delivery, minPriority: minPriority).wish(about: priority)
    }
}

/// A delivery that waits for the end of a quiet, with what it is ordered by.
package struct HeldDelivery: Sendable, Hashable {
    /// The row.
    package var delivery: Delivery
    /// The message's priority.
    package var priority: Int64
    /// Whether the message or its topic is gone, or muted since.
    package var isUnwanted: Bool
    /// When the message expires.
    package var expiresAt: Timestamp?

    /// A row with what is known of its message.
    package init(delivery: Delivery, priority: Int64, isUnwanted: Bool, expiresAt: Timestamp?) {
        (self.delivery, self.priority) = (delivery, priority)
        (self.isUnwanted, self.expiresAt) = (isUnwanted, expiresAt)
    }

    /// Whether there is something to tell of; the outbox finds the others' true end.
    package func isLiving(at now: Timestamp) -> Bool { !isUnwanted && expiresAt.map { $0 > now } ?? true }
}

/// A topic of which a person gets a digest, and how far the last one went.
package struct DigestWindow: Sendable, Hashable {
    /// The topic.
    package var topicID: TopicID
    /// The topic's name.
    package var name: String
    /// The last message that a digest has told of.
    package var told: MessageNumber
    /// The topic's last message.
    package var last: MessageNumber
    /// Messages below this number are no longer kept.
    package var first: MessageNumber

    /// A window from its stored values.
    package init(topicID: TopicID, name: String, told: MessageNumber, last: MessageNumber, first: MessageNumber) {
        (self.topicID, self.name) = (topicID, name)
        (self.told, self.last, self.first) = (told, last, first)
    }

    /// How many messages of it no digest has told of; those that are no longer kept count.
    package var count: Int64 { max(0, last - told) }
}
