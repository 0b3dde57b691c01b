/// By what way something came to an incident.
package enum IncidentVia: String, Sendable, CaseIterable {
    case sender = "SENDER"
    case push = "PUSH"
    case app = "APP"
    case api = "API"
    case cli = "CLI"
    case console = "CONSOLE"
    case link = "LINK"
    case policy = "POLICY"
    case timeout = "TIMEOUT"
    case silence = "SILENCE"
    case merge = "MERGE"
}

/// Who does something to an incident, and how.
package struct IncidentActor: Sendable, Hashable {
    /// A name as people read it; nil for time itself.
    package var name: String?
    /// By what way.
    package var via: IncidentVia
    /// The device that was used, or where it was.
    package var place: String?

    /// Somebody of this name.
    package init(_ name: String?, via: IncidentVia, on place: String? = nil) {
        (self.name, self.via, self.place) = (name, via, place)
    }

    /// `alice (iPhone)`.
    var shown: String { (name ?? "") + (place.map { " (\($0))" } ?? "") }
}

/// One line of an incident's timeline.
package struct IncidentEntry: Sendable, Hashable {
    /// Dense in its incident, from 1.
    package var number: Int64
    /// When it happened.
    package var at: Timestamp
    /// What happened.
    package var change: IncidentChange
    /// Who did it.
    package var actor: IncidentActor
    /// It in words.
    package var text: String
    /// The message that tells of it.
    package var messageID: MessageID?

    /// An entry of these parts.
    package init(
        number: Int64,
        at: Timestamp,
        change: IncidentChange,
        actor: IncidentActor,
        text: String,
        messageID: MessageID? = nil
    ) {
        (self.number, self.at, self.change, self.actor) = (number, at, change, actor)
        (self.text, self.messageID) = (text, messageID)
    }
}

/// One member of an incident, as it is stored.
package struct StoredAlert: Sendable, Hashable {
    /// Names it for the sender.
    package var fingerprint: String
    /// One line.
    package var title: String
    /// A JSON object.
    package var labels: String
    /// Where more is to be seen.
    package var url: String?
    /// Since when it fires, as the sender says.
    package var startsAt: Timestamp?
    /// When it ended, as the sender says.
    package var endsAt: Timestamp?
    /// When the server heard of its end; nil: it fires.
    package var resolvedAt: Timestamp?

    /// Whether it fires.
    package var isFiring: Bool { resolvedAt == nil }

    /// What a sender says of it, at a moment.
    package init(_ alert: SenderEvent.Alert, at now: Timestamp) {
        (fingerprint, title, url) = (alert.fingerprint, alert.title, alert.url)
        labels = JSONMapText.object(alert.labels)
        (startsAt, endsAt) = (alert.startsAt, alert.endsAt)
        resolvedAt = alert.isFiring ? nil : now
    }

    /// One from its stored values; the times are set afterwards.
    package init(fingerprint: String, title: String, labels: String, url: String?) {
        (self.fingerprint, self.title, self.labels, self.url) = (fingerprint, title, labels, url)
    }
}

/// What only the server knows of an incident, beside its record.
package struct IncidentFacts: Sendable, Hashable {
    /// Whose keys count as one.
    package var source: String
    /// Grows with each change of timers.
    package var generation: Int64
    /// The number of the timeline's last entry.
    package var lastEntry: Int64
    /// Loud messages of these numbers in the topic ring no more.
    package var answeredNumber: MessageNumber
    /// What the record does not say of how it stands, in words of `IncidentMemory`.
    package var memory: String

    /// Facts of an incident that is new.
    package init(source: String) {
        self.source = source
        (generation, lastEntry, answeredNumber, memory) = (0, 0, 0, "")
    }
}
