/// Decides what an act makes of an incident: the table of `docs/incidents.md`, as a function.
package struct IncidentMachine: Sendable {
    /// What its integration says.
    package let rules: IncidentRules

    /// So many openings within so many seconds are flapping.
    private static let flappingCount = 3
    private static let flappingSeconds = 1800.0
    /// An incident that flaps sounds once in so many seconds.
    private static let flappingPauseSeconds = 900.0
    /// So many of those who came to it are remembered.
    private static let joinedCount = 50

    /// A machine that goes by these rules.
    package init(rules: IncidentRules = IncidentRules()) { self.rules = rules }

    /// What becomes of an incident.
    package enum Outcome: Sendable, Hashable {
        /// A new incident is to be made.
        case opens
        /// Nothing that is told of has changed; counters may have.
        case stays(IncidentStanding)
        /// It has changed.
        case changes(IncidentStanding, IncidentChange, Integration.Loudness)
        /// It may have come back: that is settled in a while.
        case settles(IncidentStanding)
        /// The act does not fit; for people, with what is the case.
        case refused(String)
    }

    /// What an act at a moment makes of an incident; nil: there is none with the key.
    package func outcome(_ act: IncidentAct, on incident: IncidentStanding?, at now: Timestamp) -> Outcome {
        guard var incident else {
            if case .trigger = act { return .opens }
            return .refused("There is no incident with this key.")
        }
        calm(&incident, at: now)
        switch act {
        case .trigger(let trigger): return triggered(incident, trigger, now)
        case .acknowledge(let person): return acknowledged(incident, person, now)
        case .unacknowledge: return unacknowledged(incident, now)
        case .snooze(let moment): return snoozed(incident, until: moment, now)
        case .wake:
            guard incident.state == .snoozed else { return .stays(incident) }
            return opened(incident, .woken, now)
        case .resolve(let resolution): return resolved(incident, resolution, now)
        case .reopen(let isTaken): return reopened(incident, isTaken, now)
        }
    }

    /// Ends the flapping of an incident that has not changed for a while.
    private func calm(_ incident: inout IncidentStanding, at now: Timestamp) {
        guard incident.isFlapping, incident.changedAt.adding(seconds: Self.flappingSeconds) <= now else { return }
        (incident.isFlapping, incident.reopenings) = (false, [])
    }

    private func triggered(_ incident: IncidentStanding, _ trigger: IncidentTrigger, _ now: Timestamp) -> Outcome {
        if incident.state == .resolved { return triggeredAfterEnd(incident, trigger, now) }
        var next = incident
        next.occurrences += 1
        next.senderResolvedAt = nil
        (next.title, next.priority) = (trigger.title, trigger.priority)
        if trigger.priority > incident.priority {
            if incident.state == .snoozed { (next.state, next.snoozedUntil) = (.open, nil) }
            next.changedAt = now
            return .changes(sounding(&next, now), .raised)
        }
        let isSame =
            trigger.title == incident.title && trigger.priority == incident.priority && trigger.alerts == .same
        return isSame ? .stays(next) : .changes(next, .updated, .none)
    }

    private func triggeredAfterEnd(
        _ incident: IncidentStanding,
        _ trigger: IncidentTrigger,
        _ now: Timestamp
    ) -> Outcome {
        let end = incident.resolvedAt ?? incident.changedAt
        guard now < end.adding(seconds: Double(rules.reopenSeconds)) else { return .opens }
        var next = incident
        if incident.resolution == .person {
            // Its sender has said since the last trigger that it is over, so this is another one.
            guard incident.senderResolvedAt == nil else { return .opens }
            next.isLate = true
            return incident.isLate ? .stays(next) : .changes(next, .late, .none)
        }
        if trigger.isLate {
            next.isLate = true
            return .settles(next)
        }
        next.occurrences += 1
        (next.title, next.priority) = (trigger.title, trigger.priority)
        let recent = incident.reopenings.filter { now < $0.adding(seconds: Self.flappingSeconds) }
        next.reopenings = Array((recent + [now]).suffix(Self.flappingCount))
        if next.reopenings.count == Self.flappingCount { next.isFlapping = true }
        return opened(next, .reopened, now)
    }

    private func acknowledged(_ incident: IncidentStanding, _ person: String?, _ now: Timestamp) -> Outcome {
        var next = incident
        switch incident.state {
        case .open, .snoozed:
            (next.state, next.acknowledgedBy, next.snoozedUntil) = (.acknowledged, person, nil)
            next.changedAt = now
            return .changes(next, .acknowledged, .quiet)
        case .acknowledged:
            guard let person, person != incident.acknowledgedBy, !incident.joined.contains(person) else {
                return .stays(incident)
            }
            // Who comes to it takes nothing from the first.
            next.joined = (incident.joined + [person]).suffix(Self.joinedCount)
            return .changes(next, .joined, .none)
        case .resolved: return .refused("The incident is resolved, so nobody can take it on; reopen it first.")
        }
    }

    private func unacknowledged(_ incident: IncidentStanding, _ now: Timestamp) -> Outcome {
        switch incident.state {
        case .open, .snoozed: .stays(incident)
        case .acknowledged: opened(incident, .unacknowledged, now)
        case .resolved: .refused("The incident is resolved; reopen it instead.")
        }
    }

    private func snoozed(_ incident: IncidentStanding, until moment: Timestamp, _ now: Timestamp) -> Outcome {
        guard incident.state != .resolved else { return .refused("The incident is resolved, so it cannot be snoozed.") }
        if incident.state == .snoozed, incident.snoozedUntil == moment { return .stays(incident) }
        var next = incident
        (next.state, next.snoozedUntil, next.acknowledgedBy, next.changedAt) = (.snoozed, moment, nil, now)
        return .changes(next, .snoozed, .quiet)
    }

    private func resolved(
        _ incident: IncidentStanding,
        _ resolution: IncidentStanding.Resolution,
        _ now: Timestamp
    ) -> Outcome {
        var next = incident
        if incident.state == .resolved {
            if resolution == .sender { next.senderResolvedAt = incident.senderResolvedAt ?? now }
            return .stays(next)
        }
        if resolution == .sender {
            let isKnown = incident.senderResolvedAt != nil
            next.senderResolvedAt = incident.senderResolvedAt ?? now
            if rules.isResolvedByHand { return isKnown ? .stays(next) : .changes(next, .senderResolved, .none) }
        }
        (next.state, next.resolution, next.resolvedAt) = (.resolved, resolution, now)
        (next.snoozedUntil, next.isLate, next.changedAt) = (nil, false, now)
        return .changes(next, .resolved, rules.notifyResolved)
    }

    private func reopened(_ incident: IncidentStanding, _ isTaken: Bool, _ now: Timestamp) -> Outcome {
        guard incident.state == .resolved else {
            return .refused("The incident is \(incident.state.rawValue), so there is nothing to reopen.")
        }
        guard !isTaken else { return .refused("Another incident with this key is open.") }
        return opened(incident, .reopened, now)
    }

    private func opened(_ incident: IncidentStanding, _ change: IncidentChange, _ now: Timestamp) -> Outcome {
        var next = incident
        (next.state, next.acknowledgedBy, next.snoozedUntil, next.resolution) = (.open, nil, nil, nil)
        (next.resolvedAt, next.senderResolvedAt, next.isLate, next.changedAt) = (nil, nil, false, now)
        next.joined = []
        return .changes(sounding(&next, now), change)
    }

    /// Whether a change sounds: one of an incident that flaps does so now and then.
    private func sounding(
        _ incident: inout IncidentStanding,
        _ now: Timestamp
    ) -> (IncidentStanding, Integration.Loudness) {
        if incident.isFlapping, let last = incident.loudAt, now < last.adding(seconds: Self.flappingPauseSeconds) {
            return (incident, .quiet)
        }
        incident.loudAt = now
        return (incident, .loud)
    }
}

extension IncidentMachine.Outcome {
    fileprivate static func changes(
        _ sounded: (standing: IncidentStanding, loudness: Integration.Loudness),
        _ change: IncidentChange
    ) -> Self {
        .changes(sounded.standing, change, sounded.loudness)
    }
}
