/// What the next change of an incident is decided by.
package struct IncidentStanding: Sendable, Hashable {
    /// How an incident came to its end.
    package enum Resolution: String, Sendable, Hashable, CaseIterable {
        /// Its sender said so.
        case sender = "SENDER"
        /// Somebody did it.
        case person = "PERSON"
        /// Nothing was heard of it for long.
        case time = "TIME"
    }

    /// Where it stands.
    package var state = IncidentState.open
    /// The newest title.
    package var title = ""
    /// 1 (min) to 5 (critical).
    package var priority = 4
    /// How often it was triggered.
    package var occurrences: Int64 = 1
    /// Who took it on; nil for nobody, and for its sender.
    package var acknowledgedBy: String?
    /// Who else came to it.
    package var joined: [String] = []
    /// When it wakes, while it is snoozed.
    package var snoozedUntil: Timestamp?
    /// How it came to its end, and when; nil while it goes on.
    package var resolution: Resolution?
    /// When it came to its end.
    package var resolvedAt: Timestamp?
    /// When its sender said that it is over, since it was triggered last.
    package var senderResolvedAt: Timestamp?
    /// Whether a trigger has come since its end that did not open it again.
    package var isLate = false
    /// When its sender opened it again lately.
    package var reopenings: [Timestamp] = []
    /// Whether it comes and goes.
    package var isFlapping = false
    /// When its state changed last.
    package var changedAt: Timestamp
    /// When it sounded last.
    package var loudAt: Timestamp?

    /// An incident that was opened at a moment.
    package init(openedAt moment: Timestamp) {
        changedAt = moment
        loudAt = moment
    }
}

/// What an incident is asked to do.
package enum IncidentAct: Sendable, Hashable {
    /// Its sender says that something is wrong.
    case trigger(IncidentTrigger)
    /// Somebody takes it on, by name; nil: at its sender.
    case acknowledge(by: String?)
    /// Nobody has taken it on after all.
    case unacknowledge
    /// It is to be quiet until a moment.
    case snooze(until: Timestamp)
    /// The time of its snooze is over.
    case wake
    /// It is over.
    case resolve(IncidentStanding.Resolution)
    /// It is not over after all; nothing else may be open under its key.
    case reopen(isKeyTaken: Bool)
}

/// What counts of a trigger.
package struct IncidentTrigger: Sendable, Hashable {
    /// What it says of the members of a group.
    package enum Alerts: Sendable, Hashable {
        /// Nothing new.
        case same
        /// One has changed.
        case changed
        /// One has come to it.
        case added
    }

    /// The title that it gives.
    package var title: String
    /// 1 to 5.
    package var priority: Int
    /// What is new of its alerts.
    package var alerts: Alerts
    /// Whether all that fires is known to be over, since lately: a replica of the sender may be
    /// late.
    package var isLate: Bool

    /// A trigger of these parts.
    package init(title: String, priority: Int, alerts: Alerts = .same, isLate: Bool = false) {
        (self.title, self.priority, self.alerts, self.isLate) = (title, priority, alerts, isLate)
    }
}

/// What an integration says of its incidents' lives.
package struct IncidentRules: Sendable, Hashable {
    /// An incident that ended less long ago is opened again by its key.
    package var reopenSeconds: Int
    /// Whether a sender's resolve is only noted.
    package var isResolvedByHand: Bool
    /// How the end is told.
    package var notifyResolved: Integration.Loudness

    /// Rules of these parts; by default those of what is raised by hand.
    package init(
        reopenSeconds: Int = 300,
        isResolvedByHand: Bool = false,
        notifyResolved: Integration.Loudness = .quiet
    ) {
        (self.reopenSeconds, self.isResolvedByHand) = (reopenSeconds, isResolvedByHand)
        self.notifyResolved = notifyResolved
    }
}
