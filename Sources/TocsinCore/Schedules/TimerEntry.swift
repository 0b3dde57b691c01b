/// Something that is to be done at a time: a row, whose removal is done with its effects in one
/// transaction.
package struct TimerEntry: Sendable, Hashable {
    /// What is to be done.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A scheduled message, its subject, comes once.
        case message = "MESSAGE"
        /// A scheduled message, its subject, comes again and again.
        case recurring = "RECURRING"
        /// A daily job of the server, its subject.
        case daily = "DAILY"
        /// The quiet of a person, its subject, ends.
        case quietEnd = "QUIET_END"
        /// The server's digest for a person, its subject, or the beginning of all of them.
        case digest = "DIGEST"
        /// A digest that a person has made, its subject.
        case ownDigest = "OWN_DIGEST"
        /// A snoozed incident, its subject, wakes.
        case wake = "WAKE"
        /// An incident, its subject, may have come back after its end: that is settled.
        case settle = "SETTLE"
        /// An incident, its subject, has had no event for too long.
        case autoResolve = "AUTO_RESOLVE"
        /// An incident, its subject, has changed since its last message.
        case titleUpdate = "TITLE_UPDATE"
        /// Something of a monitor, its subject, is due.
        case monitor = "MONITOR"
    }

    /// What is to be done.
    package var kind: Kind
    /// What it is about; one timer of a kind for each.
    package var subject: String
    /// Whose it is, as owners take turns; nil: the server's own.
    package var owner: UserID?
    /// When it is due.
    package var dueAt: Timestamp
    /// Grows with each timer of the subject: an older one takes no effect.
    package var generation: Int64
    /// What the effect must know, in words of the kind.
    package var payload: String
    /// How often it has failed since it was made.
    package var attempts: Int
    /// When it failed last.
    package var failedAt: Timestamp?
    /// Why it failed last.
    package var error: String?

    /// A timer that has not failed yet.
    package init(
        kind: Kind,
        subject: String,
        owner: UserID? = nil,
        dueAt: Timestamp,
        generation: Int64 = 1,
        payload: String = ""
    ) {
        (self.kind, self.subject, self.owner, self.dueAt) = (kind, subject, owner, dueAt)
        (self.generation, self.payload) = (generation, payload)
        attempts = 0
    }

    /// The timer after a failure: due again after 1, 2, 4 … 60 s.
    package func failed(_ error: String, at now: Timestamp) -> TimerEntry {
        var timer = self
        timer.attempts += 1
        timer.dueAt = now.adding(seconds: min(60, Double(1 << min(attempts, 6))))
        (timer.failedAt, timer.error) = (now, String(error.prefix(500)))
        return timer
    }
}
