// What senders say.
extension IncidentTurn {
    /// Whose keys count as one, and what they say of the lives of their incidents.
    struct Source {
        var id: String
        var integrationID: String?
        var name: String
        var defaultPriority: Int
        var resolveAfterSeconds: Int
        var rules: IncidentRules
        var actor: IncidentActor
        /// The account of the person that it is.
        var responder: UserID?

        init(_ integration: Integration) {
            id = integration.incidentSource
            name = integration.name
            integrationID = integration.isOfMonitor ? nil : integration.id
            (defaultPriority, resolveAfterSeconds) = (integration.defaultPriority, integration.resolveAfterSeconds)
            rules = IncidentRules(
                reopenSeconds: integration.reopenSeconds,
                isResolvedByHand: integration.isResolvedByHand,
                notifyResolved: integration.notifyResolved
            )
            actor = IncidentActor(integration.name, via: .sender)
        }

        /// Incidents of a topic that people raise.
        ///
        /// - Parameter responder: The account of the one who does.
        init(of topic: TopicID, by actor: IncidentActor, responder: UserID? = nil) {
            self.responder = responder
            (id, integrationID, name) = ("topic:" + topic.text, nil, actor.name ?? "")
            (defaultPriority, resolveAfterSeconds, rules) = (4, 0, IncidentRules())
            self.actor = actor
        }
    }

    /// What one event brings about.
    func take(_ event: SenderEvent, from integration: Integration) throws(StoreError) -> EventOutcome {
        let source = Source(integration)
        let grouping = event.isOfIncident ? .group : integration.grouping
        switch event.action {
        case .ping, .ignore: return EventOutcome(key: event.key)
        case .log: return try log(event, source)
        case .trigger where book.model == nil || grouping == .none: return try log(event, source)
        case .trigger, .acknowledge, .resolve:
            guard let model = book.model, grouping != .none else { return EventOutcome(key: event.key) }
            // Of an incident an alert, what became of the first is answered.
            var first: EventOutcome?
            for single in event.singles(of: integration) {
                let outcome = try take(single, from: source, model)
                first = first ?? outcome
            }
            return first ?? EventOutcome(key: event.key)
        }
    }

    /// An event about the incident of its key.
    func take(_ event: SenderEvent, from source: Source, _ model: ModelType) throws(StoreError) -> EventOutcome {
        guard let key = event.key ?? (event.action == .trigger ? book.environment.identifiers.makeID() : nil) else {
            return EventOutcome()
        }
        var outcome = EventOutcome(key: key)
        var incident = try found(key, event, source)
        let alerts = try incident.map { incident throws(StoreError) in try changes(of: incident, by: event) }
        let act = Self.act(event, source, incident, alerts)
        let machine = IncidentMachine(rules: source.rules)
        switch machine.outcome(act, on: incident?.standing, at: now) {
        case .opens:
            let opened = try open(event, key: key, from: source, model)
            return outcome.filled(with: opened.incident, .opened, opened.message)
        case .refused: break
        case .stays(let standing):
            if var counted = incident {
                try count(event, standing, alerts, source, in: &counted)
                incident = counted
            }
        case .settles(let standing):
            if var late = incident {
                outcome.change = try settle(event, standing, by: source.actor, &late)
                incident = late
            }
        case .changes(let standing, let change, let loudness):
            guard var changed = incident else { break }
            var written = Change(standing: standing, change: change, loudness: loudness, actor: source.actor)
            if event.action == .trigger, change != .late {
                written.values = try values(of: event, alerts, source, in: changed)
                written.isTold =
                    event.title.isEmpty || title(event, source) != changed.standing.title
                    || alerts?.kind == .added
            } else if change == .resolved || change == .senderResolved {
                written.values = try ending(event, alerts, source, change, in: changed)
            } else if change == .acknowledged {
                written.values = acknowledging(source.actor)
            }
            written.responder = source.responder
            changed.memory.notifyResolved = source.rules.notifyResolved
            let message = try write(written, to: &changed)
            try setAutoResolve(of: &changed, source, event)
            return outcome.filled(with: changed, change, message)
        }
        return incident.map { outcome.filled(with: $0, outcome.change, nil) } ?? outcome
    }

    /// What the record says of who took it on.
    func acknowledging(_ actor: IncidentActor) -> RecordInput {
        [
            "acknowledgedAt": .text(now.iso8601),
            "acknowledgedBy": IncidentCase.value(actor.via == .sender ? nil : actor.name),
            "acknowledgedVia": .text(actor.via.rawValue), "acknowledgedOn": IncidentCase.value(actor.place),
        ]
    }

    /// The open incident of a key, or of an alert that fires in one; else the last one of the key.
    private func found(_ key: String, _ event: SenderEvent, _ source: Source) throws(StoreError) -> IncidentCase? {
        if let id = try writer.openIncident(of: source.id, key: key) { return try incident(id) }
        let fingerprints = event.alerts.map(\.fingerprint)
        if !fingerprints.isEmpty {
            let others = try writer.openIncidents(of: source.id, alerts: fingerprints)
            for fingerprint in fingerprints {
                if let id = others[fingerprint], let found = try incident(id) { return found }
            }
        }
        return try writer.lastResolvedIncident(of: source.id, key: key).flatMap { id throws(StoreError) in
            try incident(id)
        }
    }

    private static func act(
        _ event: SenderEvent,
        _ source: Source,
        _ incident: IncidentCase?,
        _ alerts: AlertChanges?
    ) -> IncidentAct {
        switch event.action {
        case .acknowledge: .acknowledge(by: source.actor.via == .sender ? nil : source.actor.name)
        case .resolve: .resolve(.sender)
        default:
            .trigger(
                IncidentTrigger(
                    title: event.title.isEmpty ? incident?.standing.title ?? "" : event.title,
                    priority: event.priority ?? source.defaultPriority,
                    alerts: alerts?.kind ?? .same,
                    isLate: alerts?.areLate ?? false
                )
            )
        }
    }

    func title(_ event: SenderEvent, _ source: Source) -> String {
        if !event.title.isEmpty { return event.title }
        let line = event.body.split(separator: "\n").first.map { String($0.prefix(200)) }
        return line ?? (source.name.isEmpty ? "Incident" : source.name)
    }
}

// Opening and counting.
extension IncidentTurn {
    /// Takes the place of a new incident where a topic has too many.
    private static let overflowKey = "too many open incidents"

    private func open(
        _ event: SenderEvent,
        key: String,
        from source: Source,
        _ model: ModelType
    ) throws(StoreError) -> (incident: IncidentCase, message: (MessageID, MessageNumber)?) {
        var (event, key, source) = (event, key, source)
        if try writer.hasOpenIncidents(book.environment.limits.openIncidents, in: TopicID(topic.id)) {
            source.id = "topic:" + topic.id
            source.integrationID = nil
            key = Self.overflowKey
            let body = "Resolve some of them. The last one that had no room: \(title(event, source))"
            (event.title, event.body, event.alerts) = ("Too many open incidents", body, [])
            if let id = try writer.openIncident(of: source.id, key: key), var overflow = try incident(id) {
                var standing = overflow.standing
                standing.occurrences += 1
                try write(standing, ["lastEventAt": .text(now.iso8601), "body": .text(body)], to: &overflow)
                return (overflow, nil)
            }
        }
        let id = book.environment.identifiers.makeID()
        let alerts = AlertChanges(event, stored: [], room: Self.alertsOfIncident, at: now)
        var standing = IncidentStanding(openedAt: now)
        standing.title = title(event, source)
        standing.priority = event.priority ?? source.defaultPriority
        var input = IncidentCase.values(of: standing)
        let counts = (Int64(alerts.changed.count), Int64(alerts.changed.count(where: \.isFiring)))
        for (name, value) in text(of: event, counts: counts) { input[name] = value }
        for (name, value) in [
            "number": .int(try writer.nextIncidentNumber(in: TopicID(topic.id))), "topicId": .text(topic.id),
            "key": .text(key), "integrationId": IncidentCase.value(source.integrationID),
            "openedAt": .text(now.iso8601),
        ] as RecordInput { input[name] = value }
        var record = RecordFactory(model: model).make(input, id: id, owner: topic.owner ?? "", at: now)
        if topic.owner == nil { record["owner"] = .null }
        guard try writer.insert(record) == nil else {
            throw .mismatch(reason: "An incident could not be made, for its new id is taken.")
        }
        writer.note(.created(record))
        var opened = IncidentCase(record: record, facts: IncidentFacts(source: source.id))
        opened.remember(standing)
        opened.memory.notifyResolved = source.rules.notifyResolved
        try writer.save(alerts.changed, of: id, source: source.id)
        let message = try tell(.opened, .loud, by: source.actor, of: &opened)
        let words = IncidentWords.sentence(.opened, record, by: source.actor, at: now)
        let entry = try enter(.opened, words, by: source.actor, message.id, to: &opened)
        try setAutoResolve(of: &opened, source, event)
        try saveFacts(of: opened)
        try tellWebhooks(.opened, opened, entry, by: source.actor)
        return (opened, message)
    }

    /// The values of a record that an event gives.
    private func text(of event: SenderEvent, counts: (all: Int64, firing: Int64)) -> RecordInput {
        var data = event.data
        if !event.links.isEmpty {
            data["links"] = JSONMapText.list(
                event.links.prefix(10).map { JSONMapText.object(["text": $0.text, "url": $0.url]) }
            )
        }
        if let image = event.image { data["image"] = image }
        return [
            "body": .text(event.body), "url": IncidentCase.value(event.url),
            "labels": event.labels.isEmpty ? .null : .text(JSONMapText.object(event.labels)),
            "data": data.isEmpty ? .null : .text(JSONMapText.object(data)),
            "lastEventAt": .text(now.iso8601), "alertCount": .int(counts.all), "firingCount": .int(counts.firing),
            "truncatedCount": .int(Int64(event.truncatedAlerts)),
        ]
    }

    /// Saves the alerts of an event; answers the values of the record that it gives.
    private func values(
        of event: SenderEvent,
        _ alerts: AlertChanges?,
        _ source: Source,
        in incident: IncidentCase
    ) throws(StoreError) -> RecordInput {
        if let alerts { try writer.save(alerts.changed, of: incident.id, source: source.id) }
        return text(of: event, counts: try writer.alertCounts(of: incident.id))
    }

    /// Counts an event that changes nothing.
    private func count(
        _ event: SenderEvent,
        _ standing: IncidentStanding,
        _ alerts: AlertChanges?,
        _ source: Source,
        in incident: inout IncidentCase
    ) throws(StoreError) {
        switch event.action {
        case .trigger where standing.state != .resolved:
            try write(standing, try values(of: event, alerts, source, in: incident), to: &incident)
            try setAutoResolve(of: &incident, source, event)
        case .resolve where standing.state == .resolved:
            // What may have come back is over.
            if standing.isLate { try writer.removeTimer(.settle, of: incident.id) }
            if standing != incident.standing { try write(standing, [:], to: &incident) }
        default:
            if standing != incident.standing { try write(standing, [:], to: &incident) }
        }
    }

    /// What the record says of a sender's resolve.
    private func ending(
        _ event: SenderEvent,
        _ alerts: AlertChanges?,
        _ source: Source,
        _ change: IncidentChange,
        in incident: IncidentCase
    ) throws(StoreError) -> RecordInput {
        if let alerts { try writer.save(alerts.changed, of: incident.id, source: source.id) }
        try writer.endAlerts(of: incident.id, at: now)
        let counts = try writer.alertCounts(of: incident.id)
        var values: RecordInput = [
            "lastEventAt": .text(now.iso8601), "alertCount": .int(counts.all), "firingCount": .int(counts.firing),
        ]
        if change == .resolved {
            values["resolvedBy"] = IncidentCase.value(source.actor.via == .sender ? nil : source.actor.name)
            values["resolvedVia"] = .text(source.actor.via.rawValue)
        }
        return values
    }

    /// An incident of which nothing is heard for so long is resolved.
    private func setAutoResolve(
        of incident: inout IncidentCase,
        _ source: Source,
        _ event: SenderEvent
    ) throws(StoreError) {
        let seconds = event.resolveAfterSeconds ?? source.resolveAfterSeconds
        guard event.action == .trigger, seconds > 0, incident.standing.state != .resolved else { return }
        let due = now.adding(seconds: Double(seconds))
        let payload = String(seconds)
        try writer.set(timer(.autoResolve, of: &incident, dueAt: due, payload: payload))
        try saveFacts(of: incident)
    }

    /// Waits a while whether an incident is open again after all.
    private func settle(
        _ event: SenderEvent,
        _ standing: IncidentStanding,
        by actor: IncidentActor,
        _ incident: inout IncidentCase
    ) throws(StoreError) -> IncidentChange? {
        let isNew = !incident.standing.isLate
        let fingerprints = event.alerts.filter(\.isFiring).map(\.fingerprint).filter { !$0.contains("\n") }
        let due = now.adding(seconds: Self.settlingSeconds)
        let timer = timer(.settle, of: &incident, dueAt: due, payload: fingerprints.joined(separator: "\n"))
        try writer.setUnlessThere(timer)
        if isNew {
            let words = IncidentWords.sentence(.late, incident.record, by: actor, at: now)
            try enter(.late, words, by: actor, nil, to: &incident)
        }
        incident.remember(standing)
        try saveFacts(of: incident)
        if isNew { writer.note(.updated(incident.record)) }
        return isNew ? .late : nil
    }

    private static let settlingSeconds = 60.0
}

/// What an event changes of an incident's alerts.
struct AlertChanges {
    /// Those to be written.
    private(set) var changed: [StoredAlert] = []
    private(set) var kind = IncidentTrigger.Alerts.same
    /// Whether all that fires has been over since lately: a replica of the sender may be late.
    private(set) var areLate = false

    /// What was over for less long may be a replica's late word.
    private static let lateSeconds = 300.0

    init(_ event: SenderEvent, stored: [StoredAlert], room: Int, at now: Timestamp) {
        let known = Dictionary(stored.map { ($0.fingerprint, $0) }, uniquingKeysWith: { first, _ in first })
        var (places, room) = ([String: Int](), room)
        for alert in event.alerts {
            var new = StoredAlert(alert, at: now)
            let old = known[alert.fingerprint]
            if let old, !old.isFiring, !new.isFiring { new.resolvedAt = old.resolvedAt }
            if new == old { continue }
            if let place = places[alert.fingerprint] {
                changed[place] = new
                continue
            }
            if old == nil {
                guard room > 0 else { continue }
                room -= 1
            }
            places[alert.fingerprint] = changed.count
            changed.append(new)
            if alert.isFiring, old?.isFiring != true {
                kind = .added
            } else if old?.isFiring != new.isFiring, kind == .same {
                kind = .changed
            }
        }
        let firing = event.alerts.filter(\.isFiring)
        areLate =
            !firing.isEmpty
            && firing.allSatisfy { alert in
                guard let old = known[alert.fingerprint], let end = old.resolvedAt, let start = alert.startsAt else {
                    return false
                }
                return old.startsAt == start && now < end.adding(seconds: Self.lateSeconds)
            }
    }
}

extension IncidentTurn {
    private func changes(of incident: IncidentCase, by event: SenderEvent) throws(StoreError) -> AlertChanges {
        guard !event.alerts.isEmpty else { return AlertChanges(event, stored: [], room: 0, at: now) }
        let stored = try writer.incidentAlerts(of: incident.id, fingerprints: event.alerts.map(\.fingerprint))
        let room = Self.alertsOfIncident - Int(incident.record["alertCount"].int ?? 0)
        return AlertChanges(event, stored: stored, room: room, at: now)
    }
}

extension EventOutcome {
    fileprivate func filled(
        with incident: IncidentCase,
        _ change: IncidentChange?,
        _ message: (id: MessageID, number: MessageNumber)?
    ) -> EventOutcome {
        var outcome = self
        outcome.incidentID = incident.id
        outcome.incidentNumber = incident.record["number"].int
        (outcome.state, outcome.change) = (incident.standing.state, change)
        (outcome.messageID, outcome.messageNumber) = (message?.id.text, message?.number)
        return outcome
    }
}
