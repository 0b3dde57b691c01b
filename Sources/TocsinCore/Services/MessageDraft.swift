import Synchronization

/// What all messages of one service are made by; drafts of the same are made together.
final class MessageMakers: Sendable {
    let environment: ServiceEnvironment
    let messages: ModelType
    let topics: ModelType
    let factory: RecordFactory
    /// What a `condition` on a message that is not there yet is compared with.
    let absent: Record
    /// What a message has where its input says nothing, by position.
    let defaults: [(position: Int, value: FieldValue)]
    /// Whose feed a message is in that somebody else publishes.
    let sharedOwners = SharedTopicOwners()
    private static let urgentPriority: Int64 = 5

    init(environment: ServiceEnvironment, messages: ModelType, topics: ModelType) {
        self.environment = environment
        self.messages = messages
        self.topics = topics
        factory = RecordFactory(model: messages)
        absent = Record(model: messages)
        defaults = MessageService.defaults.compactMap { name, value in
            messages.position(of: name).map { ($0, value) }
        }
    }

    /// Whether a message goes before others.
    func isUrgent(_ message: Record) -> Bool {
        messages.knownPositions.priority.flatMap { message.values[$0].int } == Self.urgentPriority
    }
}

/// What a message is to be, and what must hold of one that is not there yet.
struct MessageContent: Sendable {
    let input: RecordInput
    let topicID: TopicID
    let condition: Predicate
    /// What the server alone writes of it; nil for messages that people publish.
    var serversWord: ServersWord?
    /// Whether devices get it.
    var isPushed = true

    /// What a message says that the server makes in a topic, whoever brought it about.
    struct ServersWord: Sendable {
        /// Whose topic it is; nil where topics have no owners.
        let owner: String?
        /// The incident that it is about.
        let incident: (id: String, change: IncidentChange)?
    }
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
    let caller: Identity
    let id: String
    let topicID: TopicID
    /// The id, if the caller has chosen it: only such a one can be taken.
    let givenID: String?
    /// The caller's key of the message, if it has one.
    let key: MessageKey?
    /// Whose topic it is, where it is known as somebody else's: the feed that the message goes into
    /// by a grant.
    let sharedOwner: String?
    /// Set for messages that the server makes, which no rule is asked about.
    let serversWord: MessageContent.ServersWord?
    /// Whether devices get it.
    let isPushed: Bool
    private let input: RecordInput
    private let condition: Predicate
    /// What the rules ask of the message and of its topic; of one caller's
    /// drafts they ask the same.
    private let rules: PublishRules
    private let repeats = Atomic(false)

    init(_ makers: MessageMakers, _ content: MessageContent, by caller: Identity, _ rules: PublishRules) {
        self.makers = makers
        self.caller = caller
        self.rules = rules
        input = content.input
        condition = content.condition
        topicID = content.topicID
        let (model, known) = (makers.messages, makers.messages.knownPositions)
        givenID = content.input.value(ofFieldAt: known.id, in: model)?.text
        id = givenID ?? makers.environment.identifiers.makeID()
        let key = content.input.value(ofFieldAt: known.key, in: model)?.text
        self.key = if let key { MessageKey(topicID: content.topicID, key: key) } else { nil }
        (serversWord, isPushed) = (content.serversWord, content.isPushed)
        sharedOwner =
            if let word = content.serversWord { word.owner } else {
                makers.sharedOwners.owner(of: content.topicID, for: caller)
            }
    }

    static func perform(
        _ batch: [MessageDraft],
        _ writer: any StoreWriter
    ) throws(StoreError) -> () -> [Result<Record, ServiceError>] {
        var performed: [() -> [Result<Record, ServiceError>]] = []
        var rest = batch[...]
        while let makers = rest.first?.makers {
            let drafts = rest.prefix { $0.makers === makers }
            performed.append(try MessageBatch.perform(Array(drafts), makers, writer))
            rest = rest.dropFirst(drafts.count)
        }
        return { performed.flatMap { $0() } }
    }

    /// Whether a message may be made in this topic.
    func mayPublish(to topic: Record) -> Bool { !topic.isDeleted && rules.publishable.matches(topic) }

    /// All that the caller is to whom a topic may be shared; nobody where grants give nothing here.
    var subjects: [GrantSubject] { rules.permitted.grantQuestions.first?.subjects ?? [] }

    /// Whether the caller's token reaches a topic that somebody else shares.
    func mayReach(_ topic: TopicID) -> Bool {
        guard let position = makers.messages.knownPositions.topic else { return false }
        var probe = Record(model: makers.messages)
        probe.values[position] = .text(topic.text)
        return rules.permitted.settled(granted: true).matches(probe)
    }

    /// The record in somebody else's topic, made of what all of its caller's there begin with; or
    /// why it may not be created.
    func record(
        from beginning: RecordFactory.Beginning,
        granted roles: GrantedRoles
    ) -> Result<Record, ServiceError> {
        var record = makers.factory.make(input, id: id, from: beginning)
        if !record.model.isSimplyOwned { makers.factory.clearOwners(of: &record) }
        return checked(record, roles)
    }

    /// The record, made of what all of its caller's begin with at this time, without its number and
    /// position in the order of commits; or why it may not be created.
    func record(from beginning: RecordFactory.Beginning) -> Result<Record, ServiceError> {
        var record = makers.factory.make(input, id: id, from: beginning)
        if !record.model.isSimplyOwned { makers.factory.setOwners(of: &record, madeOf: input, by: caller) }
        return checked(record, GrantedRoles())
    }

    private func checked(_ record: Record, _ roles: GrantedRoles) -> Result<Record, ServiceError> {
        var record = record
        for (position, value) in makers.defaults where record.values[position].isNull {
            record.values[position] = value
        }
        if let incident = serversWord?.incident {
            record["incidentId"] = .text(incident.id)
            record["incidentChange"] = .text(incident.change.rawValue)
        }
        guard rules.permitted.matches(record, roles), caller.mayWrite(input, .create, to: record) else {
            return .failure(.unauthorized)
        }
        guard condition.matches(makers.absent) else { return .failure(.conditionFailed(nil)) }
        return .success(record)
    }

    /// Whose feed the message goes into.
    func owner(at now: Timestamp) -> String? {
        if let owner = serversWord?.owner { return owner }
        if makers.messages.isSimplyOwned { return caller.owner }
        guard case .success(let record) = record(from: makers.factory.beginning(owner: caller.owner, at: now)) else {
            return nil
        }
        return record.owner
    }

    /// Whether the message was there before, once the draft's outcome is known.
    var wasRepeated: Bool { repeats.load(ordering: .relaxed) }

    /// What a create answers whose id or key this message has.
    func outcome(
        ofRepeating stored: Record,
        granted roles: GrantedRoles = GrantedRoles()
    ) -> Result<Record, ServiceError> {
        repeats.store(true, ordering: .relaxed)
        return makers.factory.outcome(
            ofRepeating: input,
            stored: stored,
            caller: caller,
            defaults: MessageService.defaults,
            roles: roles
        )
    }
}
