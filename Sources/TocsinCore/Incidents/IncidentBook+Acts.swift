/// What somebody does to an incident.
package enum IncidentAnswer: Sendable, Hashable {
    case acknowledge
    case unacknowledge
    case snooze(until: Timestamp)
    case resolve
    case reopen
}

/// How somebody does it.
package struct IncidentAnswering: Sendable, Hashable {
    /// By what way.
    package var via: IncidentVia
    /// What they say with it.
    package var note: String?
    /// Where they are: a text, or the id of a device of theirs.
    package var place: String?
    /// The name that they go by; nil: their own.
    package var name: String?
    /// The message of the topic that they act on: nothing is done once a later one has reopened the
    /// incident.
    package var number: MessageNumber?
    /// The version that they saw; nil: the newest counts.
    package var expectedVersion: Int64?

    /// The device that the request says it came from; it counts where it is one of the caller's.
    var deviceID: DeviceID?

    /// An answer with nothing said, by the way that the present request came.
    package init() {
        let origin = RequestOrigin.current
        (via, deviceID) = (origin?.way ?? .api, origin?.deviceID)
    }

    /// An answer with nothing said.
    package init(via: IncidentVia) { self.via = via }
}

/// An incident that somebody raises by hand.
package struct RaisedIncident: Sendable, Equatable {
    /// Where.
    package var topicID: TopicID
    /// What the event says.
    package var event: SenderEvent
    /// Who is to look after it.
    package var assignee: String?

    /// One with an event.
    package init(in topicID: TopicID, _ event: SenderEvent) { (self.topicID, self.event) = (topicID, event) }
}

extension IncidentBook {
    private static let maximumPlaceBytes = 256
    private static let maximumNoteBytes = 4096
    private static let maximumSnoozeSeconds = 30 * 86_400.0

    /// Does something to an incident that the caller may read; answers it as it is then.
    ///
    /// To repeat it changes nothing.
    package func answer(
        _ answer: IncidentAnswer,
        to id: String,
        _ answering: IncidentAnswering,
        caller: Identity
    ) async throws(ServiceError) -> Record {
        try check(answering)
        if case .snooze(let moment) = answer { try check(moment) }
        let book = self
        return try await acting(on: id, caller) { turn, incident throws(StoreError) in
            var incident = incident
            if let expected = answering.expectedVersion, expected != incident.record.version {
                let (stored, actual) = (incident.record, incident.record.version)
                return .failure(.versionConflict(stored, expected: expected, actual: actual))
            }
            if let number = answering.number, number < incident.memory.round {
                return .failure(.conflicting("The incident was opened again since."))
            }
            let actor = try book.actor(caller, answering, turn.writer)
            let act: IncidentAct
            switch answer {
            case .acknowledge: act = .acknowledge(by: actor.name)
            case .unacknowledge: act = .unacknowledge
            case .snooze(let moment): act = .snooze(until: moment)
            case .resolve: act = .resolve(.person)
            case .reopen: act = .reopen(isKeyTaken: try turn.isKeyTaken(of: incident))
            }
            let rules = IncidentRules(notifyResolved: incident.memory.notifyResolved)
            switch IncidentMachine(rules: rules).outcome(act, on: incident.standing, at: turn.now) {
            case .opens, .settles, .stays: return .success(incident.record)
            case .refused(let words): return .failure(.conflicting(words))
            case .changes(let standing, let change, let loudness):
                var written = IncidentTurn.Change(
                    standing: standing,
                    change: change,
                    loudness: loudness,
                    actor: actor
                )
                written.note = answering.note
                // Behind a webhook's link stands nobody whose phone could ring.
                if answering.name == nil { written.responder = caller.userID }
                written.values = turn.values(of: change, by: actor)
                _ = try turn.write(written, to: &incident)
                try turn.end()
                // Behind a webhook's link stands nobody whose reading counts.
                if change.isReading, answering.name == nil {
                    let topic = TopicID(turn.topic.id)
                    try turn.writer.markRead(incident: incident.id, in: topic, by: caller.userID, now: turn.now)
                }
                return .success(incident.record)
            }
        }
    }

    /// Adds a line to the timeline.
    package func note(_ text: String, on id: String, caller: Identity) async throws(ServiceError) -> IncidentEntry {
        guard !text.isEmpty else { throw .badInput("text must not be empty.") }
        try InputChecks(limits: environment.limits)
            .checkText(text, field: "text", maximumBytes: Self.maximumNoteBytes)
        let (book, answering) = (self, IncidentAnswering())
        return try await acting(on: id, caller) { turn, incident throws(StoreError) in
            var incident = incident
            let actor = try book.actor(caller, answering, turn.writer)
            guard let entry = try turn.enter(.noted, text, by: actor, nil, to: &incident) else {
                return .failure(
                    .limit("The timeline has \(IncidentTurn.entriesOfIncident) entries, and no room for more.")
                )
            }
            try turn.saveFacts(of: incident)
            // Whoever follows it looks for the entry.
            turn.writer.note(.updated(incident.record))
            try turn.tellWebhooks(.noted, incident, entry, by: actor, note: text)
            return .success(entry)
        }
    }

    /// Opens an incident in a topic that the caller may publish to and read; the same key counts in
    /// the one that is open.
    package func raise(_ raised: RaisedIncident, caller: Identity) async throws(ServiceError) -> Record {
        guard let model, AccessPolicy.mayManageOwnThings(caller, writing: true),
            case .allow(let permitted) = AccessPolicy.decision(.get, on: model, for: caller)
        else { throw .unauthorized }
        let checks = InputChecks(limits: environment.limits)
        try checks.check(["title": .text(raised.event.title), "body": .text(raised.event.body)], of: rights.messages)
        guard !raised.event.title.isEmpty else { throw .badInput("title must not be empty.") }
        if let key = raised.event.key {
            guard !key.isEmpty else { throw .badInput("key must not be empty; leave it out instead.") }
            try checks.checkText(key, field: "key", maximumBytes: 512)
        }
        if let priority = raised.event.priority, !(1...5).contains(priority) {
            throw .badInput("priority must be 1 (min) to 5 (critical); it is \(priority).")
        }
        for (name, text) in [
            ("labels", JSONMapText.object(raised.event.labels)), ("data", JSONMapText.object(raised.event.data)),
            ("assignee", raised.assignee ?? ""),
        ] {
            try checks.checkText(text, field: name, maximumBytes: 8192)
        }
        let (book, answering) = (self, IncidentAnswering())
        return try await environment.store.writing { writer throws(StoreError) in
            let reader = writer.unlocked
            guard let topic = try reader.records(book.topics, ids: [raised.topicID.text], where: .always).first,
                try book.mayPublish(caller, to: topic, reader)
            else { return .failure(.unauthorized) }
            var probe = Record(model: model)
            (probe["topicId"], probe["owner"]) = (.text(topic.id), topic.owner.map(FieldValue.text) ?? .null)
            guard permitted.matches(probe, try reader.roles(askedBy: permitted, of: probe)) else {
                return .failure(.unauthorized)
            }
            do throws(ServiceError) {
                let texts: RecordInput = ["body": .text(raised.event.title + raised.event.body)]
                try book.environment.takeStorage(
                    for: texts,
                    of: book.rights.messages,
                    by: caller,
                    sharedBy: topic.owner
                )
            } catch {
                return .failure(error)
            }
            let turn = try IncidentTurn(book, topic, by: caller, writer)
            let actor = try book.actor(caller, answering, writer)
            let source = IncidentTurn.Source(of: TopicID(topic.id), by: actor)
            let outcome = try turn.take(raised.event, from: source, model)
            guard let id = outcome.incidentID, var incident = try turn.incident(id) else {
                return .failure(.internal("an incident that was raised is not there"))
            }
            if let assignee = raised.assignee {
                try turn.write(incident.standing, ["assignee": .text(assignee)], to: &incident)
            }
            try turn.end()
            return .success(incident.record)
        }
    }

    /// Runs a body on an incident that the caller may read, under the lock of its topic.
    private func acting<Value: Sendable>(
        on id: String,
        _ caller: Identity,
        _ body:
            @escaping @Sendable (IncidentTurn, IncidentCase) throws(StoreError) -> Result<Value, ServiceError>
    ) async throws(ServiceError) -> Value {
        guard let model, AccessPolicy.mayManageOwnThings(caller, writing: true),
            case .allow(let permitted) = AccessPolicy.decision(.get, on: model, for: caller)
        else { throw .unauthorized }
        let book = self
        return try await environment.store.writing { writer throws(StoreError) in
            let reader = writer.unlocked
            guard let seen = try reader.records(model, ids: [id], where: permitted).first, !seen.isDeleted,
                let topic = try reader.records(book.topics, ids: [seen["topicId"].text ?? ""], where: .always).first,
                !topic.isDeleted
            else { return .failure(.unauthorized) }
            let turn = try IncidentTurn(book, topic, by: caller, writer)
            guard let incident = try turn.incident(id),
                permitted.matches(incident.record, try writer.roles(askedBy: permitted, of: incident.record))
            else { return .failure(.unauthorized) }
            return try body(turn, incident)
        }
    }

    func actor(
        _ caller: Identity,
        _ answering: IncidentAnswering,
        _ writer: any StoreWriter
    ) throws(StoreError) -> IncidentActor {
        var (place, via) = (answering.place, answering.via)
        if place == nil, let id = answering.deviceID, let device = try writer.unlocked.devices(ids: [id]).first,
            device.userID == caller.userID
        {
            place = device.name ?? device.platform.rawValue
            if via == .api { via = .app }
        } else if let id = place, let device = try writer.unlocked.devices(ids: [DeviceID(id)]).first,
            device.userID == caller.userID
        {
            place = device.name ?? device.platform.rawValue
        }
        return IncidentActor(answering.name ?? caller.shownName, via: via, on: place)
    }

    private func check(_ answering: IncidentAnswering) throws(ServiceError) {
        let checks = InputChecks(limits: environment.limits)
        if let place = answering.place {
            try checks.checkText(place, field: "on", maximumBytes: Self.maximumPlaceBytes)
        }
        if let note = answering.note {
            try checks.checkText(note, field: "note", maximumBytes: Self.maximumNoteBytes)
        }
    }

    private func check(_ moment: Timestamp) throws(ServiceError) {
        let now = environment.time.now()
        guard moment > now, moment <= now.adding(seconds: Self.maximumSnoozeSeconds) else {
            throw .badInput("A snooze ends within the next 30 days; this one would end at \(moment.iso8601).")
        }
    }
}

// Reading what hangs on an incident; callers ask for the incident itself first.
extension IncidentBook {
    /// Alerts of an incident after a fingerprint; nil: those that fire and others.
    package func alerts(
        of incident: Record,
        firing: Bool?,
        after fingerprint: String,
        limit: Int,
        caller: Identity
    ) async throws(ServiceError) -> [StoredAlert] {
        let id = incident.id
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.incidentAlerts(of: id, firing: firing, after: fingerprint, limit: limit)
        }
    }

    /// Entries of a timeline after a number.
    package func entries(
        of incident: Record,
        after number: Int64,
        limit: Int,
        caller: Identity
    ) async throws(ServiceError) -> [IncidentEntry] {
        let id = incident.id
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.incidentEntries(of: id, after: number, limit: limit)
        }
    }

    /// Entries of a timeline after a number, of an incident that the caller may hear of now.
    package func entriesSeen(
        of id: String,
        after number: Int64,
        limit: Int,
        caller: Identity
    ) async throws(ServiceError) -> [IncidentEntry] {
        try await seen(id, caller) { reader throws(StoreError) in
            try reader.incidentEntries(of: id, after: number, limit: limit)
        }
    }

    /// The number of the last entry of an incident that the caller may hear of now.
    package func lastEntry(of id: String, caller: Identity) async throws(ServiceError) -> Int64 {
        try await seen(id, caller) { reader throws(StoreError) in try reader.incidentFacts(id)?.lastEntry ?? 0 }
    }

    private func seen<Value: Sendable>(
        _ id: String,
        _ caller: Identity,
        _ body: @escaping @Sendable (any StoreReader) throws(StoreError) -> Value
    ) async throws(ServiceError) -> Value {
        guard let model, case .allow(let visible) = AccessPolicy.decision(.listen, on: model, for: caller) else {
            throw .unauthorized
        }
        let found = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) -> Value? in
            guard let incident = try reader.records(model, ids: [id], where: visible).first, !incident.isDeleted else {
                return nil
            }
            return try body(reader)
        }
        guard let found else { throw .unauthorized }
        return found
    }

    /// Messages of an incident after a number, as far as the caller may read them.
    package func messages(
        of incident: Record,
        after number: MessageNumber,
        limit: Int,
        caller: Identity
    ) async throws(ServiceError) -> [Record] {
        guard case .allow(let visible) = AccessPolicy.decision(.list, on: rights.messages, for: caller) else {
            throw .unauthorized
        }
        let (id, model) = (incident.id, rights.messages)
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            let ids = try reader.incidentMessages(model, of: id, after: number, limit: limit)
            guard !ids.isEmpty else { return [] }
            return try reader.records(model, ids: ids, where: visible).sorted { ($0.number ?? 0) < ($1.number ?? 0) }
        }
    }
}

extension IncidentTurn {
    /// What the record says of who brought a change about.
    func values(of change: IncidentChange, by actor: IncidentActor) -> RecordInput {
        switch change {
        case .acknowledged: return acknowledging(actor)
        case .joined, .noted: return [:]
        case .resolved:
            return [
                "resolvedBy": IncidentCase.value(actor.name), "resolvedVia": .text(actor.via.rawValue),
            ]
        default:
            // Nobody has it any more.
            return [
                "acknowledgedAt": .null, "acknowledgedBy": .null, "acknowledgedVia": .null, "acknowledgedOn": .null,
                "resolvedBy": .null, "resolvedVia": .null,
            ]
        }
    }

    /// Whether another incident is open under the same key.
    func isKeyTaken(of incident: IncidentCase) throws(StoreError) -> Bool {
        guard let key = incident.record["key"].text else { return false }
        let open = try writer.openIncident(of: incident.facts.source, key: key)
        return open.map { $0 != incident.id } ?? false
    }
}

extension IncidentChange {
    /// Whether who brings it about has read what it is about.
    fileprivate var isReading: Bool { [.acknowledged, .joined, .resolved].contains(self) }
}

extension Identity {
    /// As people read it.
    var shownName: String { username.isEmpty ? userID.text : username }
}
