/// What is done to the incidents of one topic in one write, under the lock of the topic.
///
/// Messages are made at the end, together; their numbers follow from the lock.
final class IncidentTurn {
    let book: IncidentBook
    let writer: any StoreWriter
    let topic: Record
    /// As whom messages are made.
    let author: Identity
    let now: Timestamp
    private var drafts: [MessageDraft] = []
    /// The number of the topic's last message, those included that are made at the end.
    private(set) var lastNumber: MessageNumber
    /// Messages of this turn by their dedupe keys.
    var madeByKey: [MessageKey: (id: MessageID, number: MessageNumber)] = [:]
    /// A message that somebody publishes: it is told in place of the server's own.
    var published: RecordInput?
    /// What became of it.
    private(set) var told: MessageID?
    /// What withdrawals of this turn take away, by `collapseKey`, as a read found it.
    var withdrawn: [String: WithdrawnPlace] = [:]

    /// So many alerts of an incident are kept.
    static let alertsOfIncident = 10_000
    /// So many entries a timeline has.
    static let entriesOfIncident = 1000
    /// Pushes about a new title come once in so many seconds.
    private static let tellingSeconds = 60.0

    init(
        _ book: IncidentBook,
        _ topic: Record,
        by author: Identity,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        (self.book, self.writer) = (book, writer)
        self.author = author
        let found = try writer.hold([TopicID(topic.id)], of: book.topics, feedsOf: [topic.owner ?? author.owner])
        guard let held = found.topics[TopicID(topic.id)]?.record, !held.isDeleted, held.owner == topic.owner else {
            // It was another's, or there, when the locks were chosen.
            throw .overtaken(isWhole: false, code: 0, message: "a topic has changed", sql: "")
        }
        self.topic = held
        let clock = book.environment.changeTime()
        // Another node's clock may be a little ahead.
        now = found.latestMaking.map { max($0, clock) } ?? clock
        lastNumber = try writer.feedBounds(of: TopicID(topic.id))?.last ?? 0
    }

    /// Makes the messages; to be called last.
    @discardableResult
    func end() throws(StoreError) -> [Record] {
        guard !drafts.isEmpty else { return [] }
        let outcomes = try MessageDraft.perform(drafts, writer)
        try writer.awaitAnswers()
        var made: [Record] = []
        for outcome in outcomes() {
            switch outcome {
            case .success(let message): made.append(message)
            case .failure(let error):
                throw .mismatch(reason: "A message of an incident could not be made: \(error)")
            }
        }
        return made
    }

    /// The incident with this id, locked.
    func incident(_ id: String) throws(StoreError) -> IncidentCase? {
        guard let model = book.model, let record = try writer.records(model, ids: [id], where: .always).first,
            !record.isDeleted,
            record["topicId"].text == topic.id, let facts = try writer.incidentFacts(id)
        else { return nil }
        return IncidentCase(record: record, facts: facts)
    }

    /// Lets a message be made at the end.
    func add(
        _ input: RecordInput,
        about incident: (id: String, change: IncidentChange)? = nil,
        isPushed: Bool = true
    ) -> (id: MessageID, number: MessageNumber) {
        let draft = book.messages.serversDraft(input, in: topic, by: author, about: incident, isPushed: isPushed)
        drafts.append(draft)
        lastNumber += 1
        return (MessageID(draft.id), lastNumber)
    }
}

// Changes of one incident.
extension IncidentTurn {
    /// A change that was decided.
    struct Change {
        var standing: IncidentStanding
        var change: IncidentChange
        var loudness: Integration.Loudness
        var actor: IncidentActor
        /// The account of who answers with it; nil: nobody does who could be reached.
        var responder: UserID?
        /// Other values of the record.
        var values: RecordInput = [:]
        /// What somebody said with it.
        var note: String?
        /// Whether a change of its text is told of.
        var isTold = true

        /// Whether pushes of what was before are not to come any more: they would ring for what was
        /// answered, or show a state that is over in place of this one.
        ///
        /// What asks for somebody does so only where it rings itself.
        var overtakesPushes: Bool {
            switch change {
            case .acknowledged, .snoozed, .resolved: true
            case .opened: false
            default: change.isLoud && loudness == .loud
            }
        }
    }

    /// Writes a change with its entry, message and timers; answers the message.
    func write(_ change: Change, to incident: inout IncidentCase) throws(StoreError) -> (MessageID, MessageNumber)? {
        let before = incident.standing
        set(change.standing, change.values, of: &incident)
        incident.memory.note(change.change, by: change.responder, in: change.standing.state)
        let message = try tell(change, of: &incident)
        if let message, change.overtakesPushes {
            incident.facts.answeredNumber = message.number
            try writer.withdrawPushes(ofIncident: incident.id, now: now)
            writer.note(.incidentAnswered(incident.id, message.number))
        }
        if change.change == .reopened { incident.memory.round = message?.number ?? lastNumber + 1 }
        var text = IncidentWords.sentence(change.change, incident.record, by: change.actor, at: now)
        if let note = change.note { text += ": " + note }
        let entry = try enter(change.change, text, by: change.actor, message?.id, to: &incident)
        if change.standing.isFlapping, !before.isFlapping {
            let words = IncidentWords.sentence(.flapping, incident.record, by: change.actor, at: now)
            try enter(.flapping, words, by: change.actor, nil, to: &incident)
        }
        try setTimers(of: &incident, before: before)
        try save(incident)
        try tellWebhooks(change.change, incident, entry, by: change.actor, note: change.note)
        return message
    }

    /// Writes what counts without being told of.
    func write(
        _ standing: IncidentStanding,
        _ values: RecordInput,
        to incident: inout IncidentCase
    ) throws(StoreError) {
        set(standing, values, of: &incident)
        try save(incident)
    }

    private func set(_ standing: IncidentStanding, _ values: RecordInput, of incident: inout IncidentCase) {
        var input = IncidentCase.values(of: standing)
        for (name, value) in values { input[name] = value }
        incident.record = RecordFactory(model: incident.record.model).changed(incident.record, by: input, at: now)
        incident.remember(standing)
    }

    private func save(_ incident: IncidentCase) throws(StoreError) {
        try writer.update(incident.record)
        writer.note(.updated(incident.record))
        try saveFacts(of: incident)
    }

    func saveFacts(of incident: IncidentCase) throws(StoreError) {
        var facts = incident.facts
        facts.memory = incident.memory.text
        try writer.save(facts, of: incident.id, resolvedAt: incident.standing.resolvedAt)
    }

    /// Adds an entry, as long as the timeline has room.
    @discardableResult
    func enter(
        _ change: IncidentChange,
        _ text: String,
        by actor: IncidentActor,
        _ message: MessageID?,
        to incident: inout IncidentCase
    ) throws(StoreError) -> IncidentEntry? {
        guard incident.facts.lastEntry < Self.entriesOfIncident else { return nil }
        incident.facts.lastEntry += 1
        let entry = IncidentEntry(
            number: incident.facts.lastEntry,
            at: now,
            change: change,
            actor: actor,
            text: text,
            messageID: message
        )
        try writer.add(entry, to: incident.id)
        return entry
    }

    /// Lets the message of a change be made, where it has one.
    private func tell(_ change: Change, of incident: inout IncidentCase) throws(StoreError) -> (
        id: MessageID, number: MessageNumber
    )? {
        switch change.change {
        case .opened, .reopened, .raised, .woken, .unacknowledged, .acknowledged, .snoozed, .resolved, .assigned,
            .reminded:
            break
        case .updated:
            guard change.isTold || published != nil else { return nil }
            let last = incident.memory.toldAt ?? Timestamp(milliseconds: 0)
            let next = last.adding(seconds: Self.tellingSeconds)
            // What somebody publishes is told at once.
            guard next <= now || published != nil else {
                let timer = timer(.titleUpdate, of: &incident, dueAt: next)
                try writer.setUnlessThere(timer)
                return nil
            }
        case .joined, .noted, .senderResolved, .flapping, .late: return nil
        }
        return try tell(
            change.change,
            change.change == .updated ? .quiet : change.loudness,
            by: change.actor,
            of: &incident
        )
    }

    /// The message of a change.
    func tell(
        _ change: IncidentChange,
        _ loudness: Integration.Loudness,
        by actor: IncidentActor,
        of incident: inout IncidentCase
    ) throws(StoreError) -> (id: MessageID, number: MessageNumber) {
        let record = incident.record
        let priority = record["priority"].int ?? 4
        let state = record["state"].text.flatMap(IncidentState.init) ?? .open
        let facts: [(String, String)] = [
            ("incidentId", JSONMapText.text(incident.id)),
            ("incidentNumber", JSONMapText.text(String(record["number"].int ?? 0))),
            ("incidentState", JSONMapText.text(state.rawValue)),
            ("incidentChange", JSONMapText.text(change.rawValue)),
            ("incidentPriority", JSONMapText.text(String(priority))),
            ("openIncidents", JSONMapText.text(String(try openCount(with: incident.id, state)))),
        ]
        var input: RecordInput = [
            "topicId": .text(topic.id), "type": .int(0), "title": record["title"],
            "body": .text(IncidentWords.body(change, record, by: actor, at: now)),
        ]
        if let url = record["url"].text { input["url"] = .text(url) }
        let image = record["data"].text.flatMap { JSONObjectText.member("image", of: $0) }
        if state != .resolved, let image, image.hasPrefix("\"https://") {
            input["push"] = .json(JSONMapText.object([("image", image)]))
        }
        let given = published
        published = nil
        // What somebody publishes says itself what people read.
        if let given { input = given }
        input["priority"] = .int(loudness == .loud ? priority : min(priority, Self.quietPriority))
        input["data"] = .text(JSONObjectText.merged(JSONMapText.object(facts), record["data"].text ?? "{}"))
        switch state {
        case _ where input["category"]?.text != nil: break
        case .open: input["category"] = .text("INCIDENT")
        case .acknowledged, .snoozed: input["category"] = .text("INCIDENT_ACKNOWLEDGED")
        case .resolved: break
        }
        incident.memory.toldAt = now
        let message = add(input, about: (incident.id, change), isPushed: loudness != .none)
        if given != nil { told = message.id }
        return message
    }

    /// How many incidents of the topic are open after a change of this one, up to a hundred.
    private func openCount(with id: String, _ state: IncidentState) throws(StoreError) -> Int {
        let others = try writer.openIncidents(in: TopicID(topic.id), besides: id, atMost: Self.countedIncidents)
        return min(Self.countedIncidents, others + (state == .resolved ? 0 : 1))
    }

    /// The message that somebody publishes, where its event has changed nothing that is told.
    func tellRest(of outcome: EventOutcome, by actor: IncidentActor) throws(StoreError) {
        guard let input = published else { return }
        if let id = outcome.incidentID, var incident = try self.incident(id) {
            _ = try tell(.updated, .quiet, by: actor, of: &incident)
        } else {
            published = nil
            told = add(input).id
        }
    }

    /// Pushes count no further.
    private static let countedIncidents = 100

    /// Shown without a sound.
    private static let quietPriority: Int64 = 2
}

// Timers.
extension IncidentTurn {
    /// A timer of the incident, under its next generation.
    func timer(
        _ kind: TimerEntry.Kind,
        of incident: inout IncidentCase,
        dueAt moment: Timestamp,
        payload: String = ""
    ) -> TimerEntry {
        incident.facts.generation += 1
        return TimerEntry(
            kind: kind,
            subject: incident.id,
            owner: topic.owner.map { Identity(ownerText: $0).userID },
            dueAt: moment,
            generation: incident.facts.generation,
            payload: payload
        )
    }

    /// Ends the timers that a change made pointless, and sets those that it asks for.
    private func setTimers(of incident: inout IncidentCase, before: IncidentStanding) throws(StoreError) {
        let after = incident.standing
        if before.state == .snoozed, after.snoozedUntil != before.snoozedUntil {
            try writer.removeTimer(.wake, of: incident.id)
        }
        if let moment = after.snoozedUntil, moment != before.snoozedUntil {
            try writer.set(timer(.wake, of: &incident, dueAt: moment))
        }
        guard before.state != after.state else { return }
        if after.state == .resolved {
            try writer.removeTimer(.titleUpdate, of: incident.id)
            try writer.removeTimer(.autoResolve, of: incident.id)
        }
        if before.state == .resolved { try writer.removeTimer(.settle, of: incident.id) }
    }
}

extension Identity {
    /// The owner that a stored text names.
    init(ownerText text: String) {
        guard let split = text.firstRange(of: "::") else {
            let isSubject = OwnerText.isSubject(text)
            self.init(userID: UserID(isSubject ? text : ""), username: isSubject ? "" : text)
            return
        }
        self.init(userID: UserID(String(text[..<split.lowerBound])), username: String(text[split.upperBound...]))
    }
}
