/// Creates messages together: as if one by one, in few statements, whose number hardly depends on that of the messages.
///
/// Each draft is decided in its turn, after what is stored and what drafts before it have made: so a second draft with an
/// `id` or `key` of this batch meets the first. Look-ups take no locks. Another writer may create the same `id` or `key`
/// after them; then the write fails, and what is performed anew finds the other's message.
///
/// Topics are held under their locks while messages are made in them. One that was held before is remembered instead
/// (`TopicMemory`), and the statement that numbers its messages fails where it has changed since: so PostgreSQL is asked once
/// for all of a batch, its commit included. What fails is performed anew, and its topics are forgotten.
struct MessageBatch {
    private let makers: MessageMakers
    private let drafts: [MessageDraft]
    private var now = Timestamp(milliseconds: 0)
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

    /// The topics, as they are held or remembered.
    private var held: [TopicID: HeldTopic] = [:]
    /// What is stored: `created`, which is empty then.
    private var stored = NewMessages([])

    private enum Verdict {
        case settled(Result<Record, ServiceError>)
        /// Made by this draft: a place in `created`.
        case created(Int)
        /// Made by an earlier draft of the batch.
        case repeats(Int)
    }

    /// Creates what the rules allow; answers what tells the outcome of each draft once the write is durable.
    static func perform(
        _ drafts: [MessageDraft],
        _ makers: MessageMakers,
        _ writer: any StoreWriter
    ) throws(StoreError) -> () -> [Result<Record, ServiceError>] {
        var batch = MessageBatch(makers: makers, drafts: drafts)
        try batch.lookUp(writer.unlocked)
        batch.now = makers.environment.changeTime()
        if writer.isRepeated { makers.memory.forget(batch.topics.ids) }
        let trustsMemory = batch.mayPublishByMemory()
        try batch.decide(trustsMemory, writer.unlocked)
        if !batch.created.isEmpty {
            if !trustsMemory { try batch.hold(writer) }
            try batch.store(trustsMemory, writer)
        }
        return { [batch] in batch.outcomes() }
    }

    private init(makers: MessageMakers, drafts: [MessageDraft]) {
        self.makers = makers
        self.drafts = drafts
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
            case .created(let place): outcomes.append(.success(stored.records[place]))
            case .repeats(let place): outcomes.append(drafts[index].outcome(ofRepeating: stored.records[place]))
            }
        }
        return outcomes
    }
}

// MARK: Deciding

extension MessageBatch {
    private mutating func decide(_ trustsMemory: Bool, _ reader: any StoreReader) throws(StoreError) {
        if !trustsMemory {
            let found = try found(reader)
            topics.see { found[$0] }
        }
        for (draft, topic) in zip(drafts, topics.indexes) {
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

    /// Whether all drafts might publish to their topics as these are remembered.
    ///
    /// A message that is there already is given no number, so that its topic would not be looked at again: then nothing is
    /// decided by memory.
    private mutating func mayPublishByMemory() -> Bool {
        guard storedByID.isEmpty, storedByKey.isEmpty else { return false }
        for topic in topics.ids {
            guard let remembered = makers.memory[topic] else { return false }
            held[topic] = remembered
        }
        let held = held
        topics.see { held[$0]?.record }
        for (draft, topic) in zip(drafts, topics.indexes) {
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
    /// Locks the topics that messages are made in, and judges by what they are then.
    private mutating func hold(_ writer: any StoreWriter) throws(StoreError) {
        let wanted = Set(topicsOfCreated).map { topics.ids[$0] }
        let found = try writer.hold(wanted, of: makers.topics, feedsOf: Array(Set(created.compactMap(\.owner))))
        held = found.topics
        topics.see { found.topics[$0]?.record }
        for (draft, topic) in topics.indexes.enumerated() {
            // Topics that no message is made in are not locked.
            if case .settled = verdicts[draft] { continue }
            guard topics.mayPublish(drafts[draft], in: topic) else { throw overtaken(topics.ids[topic]) }
        }
        makers.memory.note(held)
        if let latest = found.latestMaking, latest > now { follow(latest) }
    }

    /// A topic was deleted, or is another's, since the look at it, which took no lock: what is performed anew looks again,
    /// and refuses its drafts alone.
    private func overtaken(_ topic: TopicID) -> StoreError {
        .overtaken(
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

    /// Stores the messages and what they bring about.
    private mutating func store(_ trustsMemory: Bool, _ writer: any StoreWriter) throws(StoreError) {
        var expectation: TopicExpectation?
        if trustsMemory {
            let topics = Dictionary(uniqueKeysWithValues: held.map { ($0.text, $1) })
            expectation = TopicExpectation(model: makers.topics, topics: topics, madeBy: now)
        }
        let records = created
        created = []
        stored = NewMessages(records, expecting: expectation)
        try writer.create(stored)
        try startFanouts(writer)
        try tellWebhooks(writer)
    }

    /// Where nobody has a device, what a fan-out would find out is written at once.
    private func startFanouts(_ writer: any StoreWriter) throws(StoreError) {
        let members = topics.ids.map { held[$0]?.membersWithoutDevice }
        var (deliveries, fanouts): ([Delivery], [Fanout]) = ([], [])
        for (record, topic) in zip(stored.records, topicsOfCreated) {
            guard let members = members[topic] else {
                fanouts.append(fanout(of: record, in: topics.ids[topic]))
                continue
            }
            for member in members { deliveries.append(.withoutDevice(MessageID(record.id), to: member, at: now)) }
        }
        if !deliveries.isEmpty {
            try writer.save(deliveries)
            if makers.environment.notesDeliveries { writer.note(deliveries.map(DomainEvent.deliveryChanged)) }
        }
        if !fanouts.isEmpty {
            try writer.addFanouts(fanouts)
            writer.note(.outboxFilled)
        }
    }

    private func fanout(of message: Record, in topic: TopicID) -> Fanout {
        let isUrgent = makers.isUrgent(message)
        return Fanout(messageID: MessageID(message.id), topicID: topic, createdAt: now, isUrgent: isUrgent)
    }

    private func tellWebhooks(_ writer: any StoreWriter) throws(StoreError) {
        guard makers.environment.webhooks != nil else { return }
        try writer.awaitAnswers()
        let occurrences = zip(stored.records, topicsOfCreated).map { record, topic in
            var request = WebhookOccurrence.PushRequest(record)
            request.topicID = topics.ids[topic]
            return WebhookOccurrence.pushRequested(request)
        }
        try makers.environment.raise(occurrences, writer)
    }
}

// MARK: Topics

/// The topics of drafts that are performed together, each by its index here: what is known of one is
/// found without its id.
private struct BatchTopics {
    private struct Topic {
        /// As it was when it was looked at last; nil while it was not, or is not there.
        var record: Record?
        /// Who was judged last by that, and how.
        var judged: (caller: Identity, mayPublish: Bool)?
    }

    /// By index.
    private(set) var ids: [TopicID] = []
    /// The index of each draft's topic.
    private(set) var indexes: [Int] = []
    private var topics: [Topic] = []

    init(of drafts: [MessageDraft]) {
        var known: [TopicID: Int] = [:]
        for draft in drafts {
            // Drafts that follow each other are mostly of one topic: that costs no search.
            if let last = indexes.last, ids[last] == draft.topicID {
                indexes.append(last)
                continue
            }
            let index = known[draft.topicID] ?? ids.count
            if index == ids.count {
                ids.append(draft.topicID)
                known[draft.topicID] = index
            }
            indexes.append(index)
        }
        topics = Array(repeating: Topic(), count: ids.count)
    }

    /// Takes the topics as they are; those that are not among them are not there.
    mutating func see(_ record: (TopicID) -> Record?) { topics = ids.map { Topic(record: record($0)) } }

    /// Whether a draft's message may be made in its topic, at this index, as that was seen last.
    ///
    /// Drafts that follow each other are mostly of one caller, who is judged once.
    mutating func mayPublish(_ draft: MessageDraft, in index: Int) -> Bool {
        if let judged = topics[index].judged, judged.caller.isOne(with: draft.caller) { return judged.mayPublish }
        let mayPublish = topics[index].record.map(draft.mayPublish) ?? false
        topics[index].judged = (draft.caller, mayPublish)
        return mayPublish
    }
}
