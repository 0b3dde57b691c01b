/// A message that is to be made later, once or again and again, as its owner; or an event for a
/// webhook in its place.
package struct ScheduledMessage: Sendable, Hashable {
    /// Names it; part of the keys of the messages that it makes.
    package var id: String
    /// Whose it is.
    package var owner: Owner
    /// What its owner says of it, checked.
    package var plan: Plan
    /// Whether it goes on.
    package var isEnabled = true
    /// Why it does not go on, where the server has ended it.
    package var disabledReason: String?
    /// The message that it made last.
    package var lastMessageID: MessageID?
    /// When it came last, by its plan.
    package var lastAt: Timestamp?
    /// How many times came while nothing ran, when it came last.
    package var missed = 0
    /// When it comes next; nil: not again.
    package var nextAt: Timestamp?
    /// Grows with each change and each time that comes.
    package var generation: Int64 = 1
    /// When it was made.
    package var createdAt: Timestamp
    /// When its owner changed it last.
    package var updatedAt: Timestamp
    /// When its present cron line was written, where that was not when it was made.
    package var cronChangedAt: Timestamp?
    /// What the sender said of its push, where one delayed it.
    package var wish = PushWord()

    /// What senders say of a push that clients cannot say themselves.
    package struct PushWord: Sendable, Hashable {
        /// What it takes the place of on the screen.
        package var collapseKey: String?
        /// Whether devices get it.
        package var isPushed = true
        /// The sealed calls of its buttons: an object by the buttons' ids.
        package var calls: String?

        /// A push as any other.
        package init() {}
    }

    /// A person as they were when they wrote the schedule.
    package struct Owner: Sendable, Hashable {
        /// The subject of their token.
        package var userID: UserID
        /// The name in their token.
        package var username: String
        /// Who vouched for them.
        package var provider: Identity.Provider

        /// A person by what a token said.
        package init(userID: UserID, username: String, provider: Identity.Provider) {
            (self.userID, self.username, self.provider) = (userID, username, provider)
        }

        /// The owner text of their rows.
        package var text: String { Identity(userID: userID, username: username).owner }
    }

    /// What is to come, and when.
    package struct Plan: Sendable, Hashable {
        /// What its owner calls it.
        package var name: String?
        /// The topic of the message.
        package var topicID: TopicID?
        /// The JSON of the message without its topic.
        package var input: String?
        /// When it comes, once.
        package var dueAt: Timestamp?
        /// When it comes again and again: a cron line, or an RRULE.
        package var cron: String?
        /// By which clocks; nil: UTC.
        package var timeZone: String?
        /// It does not come after this.
        package var until: Timestamp?
        /// Who is told in place of a message.
        package var webhook: String?

        /// A plan that says nothing.
        package init() {}

        /// Whether both say the same but for the name.
        func comesLike(_ other: Plan) -> Bool {
            var renamed = other
            renamed.name = name
            return self == renamed
        }
    }

    /// A schedule that has not come yet.
    package init(id: String, owner: Owner, plan: Plan, createdAt: Timestamp) {
        (self.id, self.owner, self.plan) = (id, owner, plan)
        (self.createdAt, updatedAt) = (createdAt, createdAt)
    }

    /// When it comes again and again; nil where it comes once.
    package func recurrence(in zone: ZoneRules) throws(CronProblem) -> Recurrence? {
        guard let cron = plan.cron else { return nil }
        return try Recurrence(cron, in: zone, writtenAt: cronChangedAt ?? createdAt)
    }

    /// Whether it goes on at the times that it had before a change.
    func keepsTime(of before: ScheduledMessage) -> Bool {
        guard isEnabled, before.isEnabled, before.nextAt != nil else { return false }
        let (plan, other) = (plan, before.plan)
        return plan.dueAt == other.dueAt && plan.cron == other.cron && plan.timeZone == other.timeZone
            && plan.until == other.until
    }

    /// The timer of the next time; nil where nothing is to come.
    package var timer: TimerEntry? {
        guard isEnabled, let nextAt else { return nil }
        let kind: TimerEntry.Kind = plan.cron == nil ? .message : .recurring
        return TimerEntry(kind: kind, subject: id, owner: owner.userID, dueAt: nextAt, generation: generation)
    }
}
