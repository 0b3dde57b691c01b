/// Creates messages together: as if one by one, in few statements, whose number hardly depends on that of the messages.
///
/// Each draft is decided in its turn, after what is stored and what drafts before it have made: so a second draft with an
/// `id` or `key` of this batch meets the first. Look-ups take no locks. Another writer may create the same `id` or `key`
/// after them; then `insertNew` throws, and what is performed anew finds the other's message.
///
/// A topic that messages were made in before is remembered, not looked up: whoever may publish to it as it was is held
/// against it as it is when its row is locked for the message's number. Nobody is refused by memory alone.
struct MessageBatch {
    private let makers: MessageMakers
    private let drafts: [MessageDraft]
    private var now: Timestamp
    private var topics: BatchTopics
    private var verdicts: [Verdict] = []
    /// What is to be stored, in the order of the drafts.
    private var created: [Record] = []
    /// The places of their topics.
    private var topicsOfCreated: [Int] = []
    /// What all records begin with that the caller of the last one makes.
    private var beginning: (caller: Identity, values: RecordFactory.Beginning)?
    private var createdByID: [String: Int] = [:]
    private var createdByKey: [MessageKey: Int] = [:]
    private var storedByID: [String: Record] = [:]
    private var storedByKey: [MessageKey: Record] = [:]

    /// Topics of so many members are looked through for devices when a message is created.
    private static let fewMembers = 8
    /// The members of such topics, who have no device, where that was asked for with the places.
    private var deviceless: [TopicID: [UserID]]?

    private enum Verdict {
        case settled(Result<Record, ServiceError>)
        /// Made by this draft: a place in `created`.
        case created(Int)
        /// Made by an earlier draft of the batch.
        case repeats(Int)
    }

    /// Creates what the rules allow; answers the outcome of each draft.
    static func perform(
        _ drafts: [MessageDraft],
        _ makers: MessageMakers,
        _ writer: any StoreWriter
    ) throws(StoreError) -> [Result<Record, ServiceError>] {
        var batch = MessageBatch(makers: makers, drafts: drafts, now: makers.environment.changeTime())
        try batch.decide(writer.unlocked)
        if !batch.created.isEmpty {
            try batch.assignNumbers(writer)
            try writer.insertNew(batch.created)
            try batch.startFanouts(writer)
            try batch.tellWebhooks(writer)
        }
        return batch.outcomes()
    }

    private init(makers: MessageMakers, drafts: [MessageDraft], now: Timestamp) {
        self.makers = makers
        self.drafts = drafts
        self.now = now
        topics = BatchTopics(of: drafts)
        verdicts.reserveCapacity(drafts.count)
        created.reserveCapacity(drafts.count)
        topicsOfCreated.reserveCapacity(drafts.count)
    }

    private func outcomes() -> [Result<Record, ServiceError>] {
        var outcomes: [Result<Record, ServiceError>] = []
        outcomes.reserveCapacity(drafts.count)
        for index in drafts.indices {
            switch verdicts[index] {
            case .settled(let outcome): outcomes.append(outcome)
            case .created(let place): outcomes.append(.success(created[place]))
            case .repeats(let place): outcomes.append(drafts[index].outcome(ofRepeating: created[place]))
            }
        }
        return outcomes
    }
}

// MARK: Deciding

extension MessageBatch {
    private mutating func decide(_ reader: any StoreReader) throws(StoreError) {
        try lookUp(reader)
        // A message that is there already takes no place, so that its topic would not be looked at again.
        let trustsMemory = storedByID.isEmpty && storedByKey.isEmpty && mayPublishByMemory()
        if !trustsMemory {
            let found = try found(reader)
            topics.see { found[$0] }
        }
        for (draft, topic) in zip(drafts, topics.places) {
            let mayPublish = trustsMemory || topics.mayPublish(draft, in: topic)
            verdicts.append(mayPublish ? verdict(on: draft, in: topic) : .settled(.failure(.unauthorized)))
        }
    }

    private mutating func verdict(on draft: MessageDraft, in topic: Int) -> Verdict {
        if let id = draft.givenID {
            if let place = createdByID[id] { return .repeats(place) }
            if let stored = storedByID[id] { return .settled(draft.outcome(ofRepeating: stored)) }
        }
        if let key = draft.key {
            if let place = createdByKey[key] { return .repeats(place) }
            if let stored = storedByKey[key] { return .settled(draft.outcome(ofRepeating: stored)) }
        }
        switch draft.record(from: beginning(for: draft.caller)) {
        case .failure(let refusal): return .settled(.failure(refusal))
        case .success(let record):
            let place = created.count
            created.append(record)
            topicsOfCreated.append(topic)
            if let id = draft.givenID { createdByID[id] = place }
            if let key = draft.key { createdByKey[key] = place }
            return .created(place)
        }
    }

    private mutating func beginning(for caller: Identity) -> RecordFactory.Beginning {
        if let beginning, beginning.caller.isOne(with: caller) { return beginning.values }
        let values = makers.factory.beginning(owner: caller.owner, at: now)
        beginning = (caller, values)
        return values
    }

    /// Whether all drafts might publish to their topics as these were when places in them were last taken.
    private mutating func mayPublishByMemory() -> Bool {
        let memory = makers.memory
        topics.see { memory[$0] }
        for (draft, topic) in zip(drafts, topics.places) {
            guard topics.mayPublish(draft, in: topic) else { return false }
        }
        return true
    }

    private func found(_ reader: any StoreReader) throws(StoreError) -> [TopicID: Record] {
        var found: [TopicID: Record] = [:]
        for topic in try reader.records(makers.topics, ids: topics.ids.map(\.text), where: .always) {
            found[TopicID(topic.id)] = topic
        }
        return found
    }

    /// Finds the messages that have an id or key of a draft.
    private mutating func lookUp(_ reader: any StoreReader) throws(StoreError) {
        let ids = Set(drafts.compactMap(\.givenID))
        if !ids.isEmpty {
            for message in try reader.records(makers.messages, ids: Array(ids), where: .always) {
                storedByID[message.id] = message
            }
        }
        let keys = Set(drafts.compactMap(\.key))
        guard !keys.isEmpty else { return }
        for message in try reader.messages(makers.messages, keys: keys) {
            guard let topic = message["topicId"].text, let key = message["key"].text else { continue }
            storedByKey[MessageKey(topicID: TopicID(topic), key: key)] = message
        }
    }
}

// MARK: Writing

extension MessageBatch {
    private mutating func assignNumbers(_ writer: any StoreWriter) throws(StoreError) {
        let questions = PlaceQuestions(topics: makers.topics, fewMembers: Self.fewMembers, now: now)
        let taken = try MessageNumbering.take(
            for: &created,
            in: topics.ids,
            at: topicsOfCreated,
            asking: questions,
            writer
        )
        if let absent = taken.absent { throw overtaken(absent) }
        if !taken.topics.isEmpty {
            topics.see { taken.topics[$0] }
            // Topics that no message is made in were not locked.
            for (draft, topic) in topics.places.enumerated() where topics.isThere(topic) {
                if case .settled = verdicts[draft] { continue }
                guard topics.mayPublish(drafts[draft], in: topic) else { throw overtaken(topics.ids[topic]) }
            }
        }
        makers.memory.note(taken.topics)
        if let latest = taken.latestMaking, latest > now { follow(latest) }
        deviceless = taken.deviceless
    }

    /// A topic was deleted, or is another's, since the look at it, which took no lock: what is performed anew looks again, and
    /// refuses its drafts alone.
    private func overtaken(_ topic: TopicID) -> StoreError {
        for id in topics.ids { makers.memory.forget(id) }
        return .overtaken(
            isWhole: true,
            code: 0,
            message: "topic \(topic) was changed while a message to it was created",
            sql: ""
        )
    }

    /// Moves the time of the batch behind that of the messages before it in their topics.
    ///
    /// Another node's clock may be a little ahead, or its message have got the topic's row first. The rows are held now, so
    /// nobody comes between.
    private mutating func follow(_ latest: Timestamp) {
        now = latest
        for case (let draft, .created(let place)) in zip(drafts, verdicts) {
            draft.restamp(&created[place], at: latest)
        }
    }

    /// Where nobody has a device, what a fan-out would find out is written at once.
    private func startFanouts(_ writer: any StoreWriter) throws(StoreError) {
        let deviceless = try askedDeviceless(writer)
        let members = topics.ids.map { deviceless[$0] }
        let isHeard = makers.environment.notesDeliveries
        var numbers = [ClosedRange<MessageNumber>?](repeating: nil, count: members.count)
        var (events, fanouts): ([DomainEvent], [Fanout]) = ([], [])
        events.reserveCapacity(created.count)
        for (record, topic) in zip(created, topicsOfCreated) {
            events.append(.created(record))
            guard let members = members[topic] else {
                fanouts.append(fanout(of: record, in: topics.ids[topic]))
                continue
            }
            guard let number = record.number else { continue }
            // Those of one topic follow each other.
            numbers[topic] = (numbers[topic]?.lowerBound ?? number)...number
            guard isHeard else { continue }
            let message = MessageID(record.id)
            for member in members { events.append(.deliveryChanged(.withoutDevice(message, to: member, at: now))) }
        }
        try save(numbers, members, writer)
        if !fanouts.isEmpty {
            try writer.addFanouts(fanouts)
            events.append(.outboxFilled)
        }
        writer.note(events)
    }

    private func fanout(of message: Record, in topic: TopicID) -> Fanout {
        let isUrgent = makers.isUrgent(message)
        return Fanout(messageID: MessageID(message.id), topicID: topic, createdAt: now, isUrgent: isUrgent)
    }

    /// Writes which messages of which topic nobody had a device for.
    private func save(
        _ numbers: [ClosedRange<MessageNumber>?],
        _ members: [[UserID]?],
        _ writer: any StoreWriter
    ) throws(StoreError) {
        let runs = numbers.indices.compactMap { topic -> DevicelessRun? in
            guard let numbers = numbers[topic], let users = members[topic], !users.isEmpty else { return nil }
            return DevicelessRun(topicID: topics.ids[topic], numbers: numbers, users: users, madeAt: now)
        }
        if !runs.isEmpty { try writer.save(runs) }
    }

    private func askedDeviceless(_ reader: any StoreReader) throws(StoreError) -> [TopicID: [UserID]] {
        if let deviceless { return deviceless }
        let asked = Set(topicsOfCreated.map { topics.ids[$0] })
        return try reader.membersIfNoneHasDevice(of: asked, atMost: Self.fewMembers)
    }

    private func tellWebhooks(_ writer: any StoreWriter) throws(StoreError) {
        guard makers.environment.webhooks != nil else { return }
        var occurrences: [WebhookOccurrence] = []
        for (record, topic) in zip(created, topicsOfCreated) {
            var request = WebhookOccurrence.PushRequest(record, number: record.number ?? 0)
            request.topicID = topics.ids[topic]
            occurrences.append(.pushRequested(request))
        }
        try makers.environment.raise(occurrences, writer)
    }
}
