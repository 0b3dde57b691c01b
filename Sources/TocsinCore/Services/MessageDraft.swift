import Synchronization

/// What all messages of one service are made by; drafts of the same are made together.
final class MessageMakers: Sendable {
    let environment: ServiceEnvironment
    let messages: ModelType
    let topics: ModelType
    let factory: RecordFactory
    /// What a `condition` on a message that is not there yet is compared with.
    let absent: Record
    let memory = TopicMemory()

    init(environment: ServiceEnvironment, messages: ModelType, topics: ModelType) {
        self.environment = environment
        self.messages = messages
        self.topics = topics
        factory = RecordFactory(model: messages)
        absent = Record(model: messages)
    }
}

/// Topics as they were when places in them were last taken, so that they need not be looked up for the next message.
final class TopicMemory: Sendable {
    private let topics = Mutex<[TopicID: Record]>([:])
    private static let maximumCount = 4096

    subscript(_ id: TopicID) -> Record? { topics.withLock { $0[id] } }

    func note(_ seen: [TopicID: Record]) {
        guard !seen.isEmpty else { return }
        topics.withLock { topics in
            if topics.count + seen.count > Self.maximumCount { topics.removeAll() }
            for (id, topic) in seen { topics[id] = topic }
        }
    }

    func forget(_ id: TopicID) { topics.withLock { _ = $0.removeValue(forKey: id) } }
}

/// What a message is to be, and what must hold of one that is not there yet.
struct MessageContent: Sendable {
    let input: RecordInput
    let topicID: TopicID
    let condition: Predicate
}

/// What the rules ask of a message and of its topic.
struct PublishRules: Sendable {
    let permitted: Predicate
    let publishable: Predicate
}

/// A message that a caller wants to be created, with what the rules say of it.
///
/// A class, because it goes from the caller's thread to the writer's and through its batch.
final class MessageDraft: GroupedWrite {
    let makers: MessageMakers
    let input: RecordInput
    let condition: Predicate
    let caller: Identity
    let id: String
    let topicID: TopicID
    /// What the rules ask of the message and of its topic.
    let rules: PublishRules

    init(_ makers: MessageMakers, _ content: MessageContent, id: String, caller: Identity, _ rules: PublishRules) {
        self.makers = makers
        input = content.input
        condition = content.condition
        topicID = content.topicID
        self.id = id
        self.caller = caller
        self.rules = rules
    }

    static func perform(
        _ batch: [MessageDraft],
        _ writer: any StoreWriter
    ) throws(StoreError) -> [Result<Record, ServiceError>] {
        if let makers = batch.first?.makers, batch.allSatisfy({ $0.makers === makers }) {
            return try MessageBatch.perform(batch, makers, writer)
        }
        var outcomes: [Result<Record, ServiceError>] = []
        var rest = batch[...]
        while let makers = rest.first?.makers {
            let drafts = rest.prefix { $0.makers === makers }
            outcomes += try MessageBatch.perform(Array(drafts), makers, writer)
            rest = rest.dropFirst(drafts.count)
        }
        return outcomes
    }

    /// Whether a message may be made in this topic.
    func mayPublish(to topic: Record) -> Bool { !topic.isDeleted && rules.publishable.matches(topic) }

    /// The caller's key of the message, if it has one.
    var key: MessageKey? {
        let key = input.value(ofFieldAt: makers.messages.places.key, in: makers.messages)
        return key?.text.map { MessageKey(topicID: topicID, key: $0) }
    }

    /// The id, if the caller has chosen it: only such a one can be taken.
    var givenID: String? {
        input.value(ofFieldAt: makers.messages.places.id, in: makers.messages) == nil ? nil : id
    }

    /// The record, without its places in the order of commits; or why it may not be created.
    func record(at now: Timestamp) -> Result<Record, ServiceError> {
        var record = makers.factory.make(input, id: id, caller: caller, at: now)
        for (name, value) in MessageService.defaults where record[name].isNull { record[name] = value }
        guard rules.permitted.matches(record), caller.mayWrite(input, .create, to: record) else {
            return .failure(.unauthorized)
        }
        guard condition.matches(makers.absent) else { return .failure(.conditionFailed(nil)) }
        return .success(record)
    }

    /// Moves the times that the server gave the record; those that the client gave stay.
    func restamp(_ record: inout Record, at moment: Timestamp) {
        let (places, names, text) = (record.model.places, record.model.timestamps, FieldValue.text(moment.iso8601))
        for (name, place) in [(names.created, places.created), (names.updated, places.updated)] {
            if let place, input[name]?.isNull ?? true { record.values[place] = text }
        }
        for place in [places.changed, places.making].compactMap({ $0 }) {
            record.values[place] = .int(moment.milliseconds)
        }
    }

    /// What a create answers whose id or key this message has.
    func outcome(ofRepeating stored: Record) -> Result<Record, ServiceError> {
        makers.factory.outcome(
            ofRepeating: input,
            stored: stored,
            caller: caller,
            defaults: MessageService.defaults
        )
    }
}
