/// Messages: durable, numbered and on their way to the devices when `create` returns.
package struct MessageService: Sendable {
    private let environment: ServiceEnvironment
    private let messages: ModelType
    private let topics: ModelType
    private let checks: InputChecks
    private static let urgentPriority: Int64 = 5
    /// Topics of so many members are looked through for devices when a message is created.
    private static let fewMembers = 8
    /// What a message has where its input says nothing.
    static let defaults: RecordInput = ["priority": .int(3)]
    /// A message stays in its topic, whose numbers have no holes.
    package static let lastingFields: Set<String> = ["topicId"]

    package init(environment: ServiceEnvironment, messages: ModelType, topics: ModelType) {
        self.environment = environment
        self.messages = messages
        self.topics = topics
        checks = InputChecks(limits: environment.limits)
    }

    /// Creates a message in a topic the caller may publish to, with its fan-out, in one transaction.
    ///
    /// The same `id`, or the same `key` in one topic, with the same content answers with the stored message and pushes
    /// nothing; with other content it is a conflict.
    package func create(
        _ input: RecordInput,
        condition: Predicate = .always,
        caller: Identity
    ) async throws(ServiceError) -> Record {
        guard case .allow(let permitted) = AccessPolicy.decision(.create, on: messages, for: caller),
            case .allow(let publishable) = publishableTopics(caller)
        else { throw .unauthorized }
        try checks.check(input, of: messages)
        let draft = Draft(
            input: input,
            condition: condition,
            caller: caller,
            id: input["id"]?.text ?? environment.identifiers.makeID(),
            topicID: TopicID(input["topicId"]?.text ?? ""),
            permitted: permitted,
            publishable: publishable
        )
        let service = self
        return try await environment.store.writing { writer throws(StoreError) in
            try service.write(draft, writer)
        }
    }

    /// Messages of a topic after a number, in order of number: what a feed replays.
    package func feed(
        topic: TopicID,
        after number: MessageNumber,
        limit: Int,
        caller: Identity
    ) async throws(ServiceError) -> [Record] {
        guard case .allow(let visible) = AccessPolicy.decision(.list, on: messages, for: caller),
            let topicField = messages.position(of: "topicId"), let numberField = messages.position(of: "number"),
            let deletedField = messages.position(of: "_deleted")
        else { throw .unauthorized }
        let query = ModelQuery(
            model: messages,
            predicate: visible.and(.field(topicField, .equal(.text(topic.text))))
                .and(.field(deletedField, .notEqual(.bool(true)))),
            order: [ModelQuery.Order(field: numberField)],
            after: [.int(number)],
            limit: limit
        )
        return try await environment.store.reading { reader throws(StoreError) in try reader.records(query) }
    }

    /// The last number of a topic that the caller may read; nil for one that is absent or somebody else's.
    package func lastNumber(of topic: TopicID, caller: Identity) async throws(ServiceError) -> MessageNumber? {
        guard case .allow(let visible) = AccessPolicy.decision(.read, on: topics, for: caller) else { return nil }
        let topics = topics
        return try await environment.store.reading { reader throws(StoreError) in
            guard try !reader.records(topics, ids: [topic.text], where: visible).isEmpty else { return nil }
            return try reader.lastNumber(of: topic)
        }
    }

    private struct Draft: Sendable {
        var input: RecordInput
        var condition: Predicate
        var caller: Identity
        var id: String
        var topicID: TopicID
        var permitted: Predicate
        var publishable: Predicate
    }

    /// A topic one may publish to is one that one may read; publish-only tokens see exactly theirs.
    private func publishableTopics(_ caller: Identity) -> AccessDecision {
        AccessPolicy.decision(.read, on: topics, for: caller)
    }

    private func write(
        _ draft: Draft,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Result<Record, ServiceError> {
        let topic = try writer.records(topics, ids: [draft.topicID.text], where: draft.publishable).first
        guard let topic, !topic.isDeleted else { return .failure(.unauthorized) }
        let factory = RecordFactory(model: messages)
        if let stored = try existing(draft, writer) {
            return factory.outcome(
                ofRepeating: draft.input,
                stored: stored,
                caller: draft.caller,
                defaults: Self.defaults
            )
        }
        let now = environment.changeTime()
        var record = factory.make(draft.input, id: draft.id, caller: draft.caller, at: now)
        for (name, value) in Self.defaults where record[name].isNull { record[name] = value }
        guard draft.permitted.matches(record), draft.caller.mayWrite(draft.input, .create, to: record) else {
            return .failure(.unauthorized)
        }
        guard draft.condition.matches(Record(model: messages)) else { return .failure(.conditionFailed(nil)) }
        guard let number = try MessagePlaces.take(for: &record, in: draft.topicID, writer) else {
            return .failure(.unauthorized)
        }
        if let stored = try writer.insert(record) {
            throw .mismatch(reason: "Message \(stored.id) appeared inside its own transaction.")
        }
        writer.note(.created(record))
        try startFanout(of: record, in: draft.topicID, at: now, writer)
        try environment.raise(.pushRequested(Self.request(record, draft, number)), writer)
        return .success(record)
    }

    private static func request(
        _ record: Record,
        _ draft: Draft,
        _ number: MessageNumber
    ) -> WebhookOccurrence.PushRequest {
        var request = WebhookOccurrence.PushRequest(record, number: number)
        request.topicID = draft.topicID
        return request
    }

    /// Where nobody has a device, what a fan-out would find out is written at once.
    private func startFanout(
        of record: Record,
        in topicID: TopicID,
        at now: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        if let members = try writer.membersIfNoneHasDevice(of: topicID, atMost: Self.fewMembers) {
            let outcomes = members.map { Delivery.withoutDevice(MessageID(record.id), to: $0, at: now) }
            if !outcomes.isEmpty { try writer.save(outcomes) }
            for outcome in outcomes { writer.note(.deliveryChanged(outcome)) }
            return
        }
        let isUrgent = record["priority"].int == Self.urgentPriority
        try writer.addFanout(
            Fanout(messageID: MessageID(record.id), topicID: topicID, createdAt: now, isUrgent: isUrgent)
        )
        writer.note(.outboxFilled)
    }

    /// The message that has the draft's id, or its key in the topic.
    private func existing(_ draft: Draft, _ writer: any StoreWriter) throws(StoreError) -> Record? {
        if draft.input["id"] != nil, let stored = try writer.records(messages, ids: [draft.id], where: .always).first {
            return stored
        }
        guard let key = draft.input["key"]?.text else { return nil }
        return try writer.message(messages, topic: draft.topicID, key: key)
    }
}
