/// Creates messages together: as if one by one, in few statements, whose number hardly depends
/// on that of the messages.
///
/// Each draft is decided in its turn, after what is stored and what drafts before it have made: so
/// a second draft with an `id` or `key` of this batch meets the first. Look-ups take no locks.
/// Another writer may create the same `id` or `key` after them; then the write fails, and what is
/// performed anew finds the other's message.
///
/// The topics are locked first, so nothing that a draft is judged by changes before the commit. On
/// PostgreSQL a batch costs two round trips: one for the locks and the topics, one for all that is
/// written, its commit included. Drafts with ids of their clients cost one more, for the look-up,
/// and drafts with keys another.
struct MessageBatch {
    private let makers: MessageMakers
    private let drafts: [MessageDraft]
    private var now = Timestamp(milliseconds: 0)
    private var topics: BatchTopics
    private var draftOutcomes: [DraftOutcome] = []
    /// What is to be stored, in the order of the drafts.
    private var created: [Record] = []
    /// The indexes of their topics.
    private var topicsOfCreated: [Int] = []
    /// What all records begin with that the caller of the last one makes.
    private var beginning: (caller: Identity, sharedOwner: String?, values: RecordFactory.Beginning)?
    /// What grants gave those who publish to topics of others, under the topics' locks.
    private var granted = GrantedRoles()
    private var createdByID: [String: Int] = [:]
    private var createdByKey: [MessageKey: Int] = [:]
    private var storedByID: [String: Record] = [:]
    private var storedByKey: [MessageKey: Record] = [:]

    /// The topics, under their locks.
    private var held: [TopicID: HeldTopic] = [:]
    /// What is stored: `created`, which is empty then.
    private var stored = NewMessages([])

    private enum DraftOutcome {
        case settled(Result<Record, ServiceError>)
        /// Made by this draft: an index in `created`.
        case created(Int)
        /// Made by an earlier draft of the batch.
        case repeats(Int)
    }

    /// Creates what the rules allow; answers what tells the outcome of each draft
    /// once the write is durable.
    static func perform(
        _ drafts: [MessageDraft],
        _ makers: MessageMakers,
        _ writer: any StoreWriter
    ) throws(StoreError) -> () -> [Result<Record, ServiceError>] {
        var batch = MessageBatch(makers: makers, drafts: drafts)
        try batch.lookUp(writer.unlocked)
        try batch.hold(writer)
        batch.decide()
        if !batch.created.isEmpty { try batch.store(writer) }
        return { [batch] in batch.outcomes() }
    }

    private init(makers: MessageMakers, drafts: [MessageDraft]) {
        self.makers = makers
        self.drafts = drafts
        topics = BatchTopics(of: drafts)
        draftOutcomes.reserveCapacity(drafts.count)
        created.reserveCapacity(drafts.count)
        topicsOfCreated.reserveCapacity(drafts.count)
    }

    private func outcomes() -> [Result<Record, ServiceError>] {
        var outcomes: [Result<Record, ServiceError>] = []
        outcomes.reserveCapacity(drafts.count)
        for index in drafts.indices {
            switch draftOutcomes[index] {
            case .settled(let outcome): outcomes.append(outcome)
            case .created(let createdIndex): outcomes.append(.success(stored.records[createdIndex]))
            case .repeats(let createdIndex):
                let repeated = stored.records[createdIndex]
                outcomes.append(drafts[index].outcome(ofRepeating: repeated, granted: granted))
            }
        }
        return outcomes
    }
}

extension MessageBatch {
    private mutating func decide() {
        for (draft, topic) in zip(drafts, topics.indexes) {
            if topics.mayPublish(draft, in: topic) {
                draftOutcomes.append(outcome(of: draft, in: topic, sharedBy: draft.serversWord?.owner))
            } else if let owner = sharer(of: topic, with: draft) {
                draftOutcomes.append(outcome(of: draft, in: topic, sharedBy: owner))
            } else {
                draftOutcomes.append(.settled(.failure(.unauthorized)))
            }
        }
    }

    /// The owner of a topic that a grant lets the draft's caller publish to; nil where none does.
    ///
    /// Where another owner was thought of, whose feed is not locked, the owner is noted, and the
    /// draft is to be made anew.
    private func sharer(of topic: Int, with draft: MessageDraft) -> String? {
        let id = topics.ids[topic]
        guard let record = held[id]?.record, !record.isDeleted, let owner = record.owner,
            !granted.roles(of: draft.subjects, in: id).isDisjoint(with: .publishing),
            draft.mayReach(id)
        else { return nil }
        guard let known = draft.sharedOwner, known.hasBytes(of: owner) else {
            makers.sharedOwners.note(owner, of: id)
            return nil
        }
        return owner
    }

    private mutating func outcome(
        of draft: MessageDraft,
        in topic: Int,
        sharedBy owner: String?
    ) -> DraftOutcome {
        if let id = draft.givenID {
            if let createdIndex = createdByID[id] { return .repeats(createdIndex) }
            if let stored = storedByID[id] { return .settled(draft.outcome(ofRepeating: stored, granted: granted)) }
        }
        if let key = draft.key {
            if let createdIndex = createdByKey[key] { return .repeats(createdIndex) }
            if let stored = storedByKey[key] { return .settled(draft.outcome(ofRepeating: stored, granted: granted)) }
        }
        let beginning = beginning(for: draft.caller, sharedBy: owner)
        let made = owner == nil ? draft.record(from: beginning) : draft.record(from: beginning, granted: granted)
        switch made {
        case .failure(let refusal): return .settled(.failure(refusal))
        case .success(let record):
            let createdIndex = created.count
            created.append(record)
            topicsOfCreated.append(topic)
            if let id = draft.givenID { createdByID[id] = createdIndex }
            if let key = draft.key { createdByKey[key] = createdIndex }
            return .created(createdIndex)
        }
    }

    private mutating func beginning(
        for caller: Identity,
        sharedBy owner: String?
    ) -> RecordFactory.Beginning {
        if let beginning, beginning.sharedOwner == owner, beginning.caller.isOne(with: caller) {
            return beginning.values
        }
        let values =
            if let owner {
                makers.factory.beginning(owner: owner, author: caller.userID, at: now)
            } else {
                makers.factory.beginning(owner: caller.owner, at: now)
            }
        beginning = (caller, owner, values)
        return values
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

extension MessageBatch {
    /// Locks the feeds and topics that messages are to be made in, and takes the
    /// topics as they are then.
    ///
    /// Another node's clock may be a little ahead, or its message have got the topic's row first:
    /// so the batch is made no earlier than the latest message in its topics. Nobody comes
    /// between, as the rows are held.
    private mutating func hold(_ writer: any StoreWriter) throws(StoreError) {
        now = makers.environment.changeTime()
        var owners = Set(drafts.compactMap { $0.owner(at: now) })
        for draft in drafts { if let owner = draft.sharedOwner { owners.insert(owner) } }
        let found = try writer.hold(topics.ids, of: makers.topics, feedsOf: Array(owners))
        held = found.topics
        topics.see { found.topics[$0]?.record }
        if let latest = found.latestMaking { now = max(now, latest) }
        try lookUpGrants(writer)
    }

    /// Reads what grants give those whose topic it is not, in one statement for all.
    ///
    /// The topics are held: who takes a grant back waits, and what is published later is refused.
    private mutating func lookUpGrants(_ writer: any StoreWriter) throws(StoreError) {
        var (ids, subjects): (Set<TopicID>, Set<GrantSubject>) = ([], [])
        for (draft, topic) in zip(drafts, topics.indexes) where !topics.mayPublish(draft, in: topic) {
            ids.insert(topics.ids[topic])
            subjects.formUnion(draft.subjects)
        }
        guard !subjects.isEmpty else { return }
        granted = try writer.roles(of: Array(subjects), in: Array(ids))
    }

    /// Stores the messages and what they bring about.
    private mutating func store(_ writer: any StoreWriter) throws(StoreError) {
        stored = NewMessages(created)
        created = []
        try writer.create(stored)
        try startFanouts(writer)
        try tellWebhooks(writer)
    }

    /// Where nobody has a device, what a fan-out would find out is written at once.
    private func startFanouts(_ writer: any StoreWriter) throws(StoreError) {
        let members = topics.ids.map { held[$0]?.membersWithoutDevice }
        var (deliveries, fanouts): ([Delivery], [Fanout]) = ([], [])
        let unpushed = Set(drafts.lazy.filter { !$0.isPushed }.map(\.id))
        for (record, topic) in zip(stored.records, topicsOfCreated) where !unpushed.contains(record.id) {
            guard let members = members[topic] else {
                fanouts.append(fanout(of: record, in: topics.ids[topic]))
                continue
            }
            for member in members { deliveries.append(.withoutDevice(MessageID(record.id), to: member, at: now)) }
        }
        if !deliveries.isEmpty {
            try writer.add(deliveries)
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

/// The topics of drafts that are performed together, each by its index here: what is known of one
/// is found without its id.
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
