/// Messages: durable, numbered and on their way to the devices when `create` returns.
package struct MessageService: Sendable {
    private let environment: ServiceEnvironment
    private let messages: ModelType
    private let topics: ModelType
    private let checks: InputChecks
    private let makers: MessageMakers
    /// What a message has where its input says nothing.
    static let defaults: RecordInput = ["priority": .int(3)]
    /// A message stays in its topic, whose numbers have no holes.
    package static let lastingFields: Set<String> = ["topicId"]

    package init(environment: ServiceEnvironment, messages: ModelType, topics: ModelType) {
        self.environment = environment
        self.messages = messages
        self.topics = topics
        checks = InputChecks(limits: environment.limits)
        makers = MessageMakers(environment: environment, messages: messages, topics: topics)
    }

    /// Creates a message in a topic the caller may publish to, with its fan-out, in one transaction (`MessageBatch`).
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
        let draft = MessageDraft(
            makers: makers,
            input: input,
            condition: condition,
            caller: caller,
            id: input["id"]?.text ?? environment.identifiers.makeID(),
            topicID: TopicID(input["topicId"]?.text ?? ""),
            permitted: permitted,
            publishable: publishable
        )
        return try await environment.store.writing(draft)
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

    /// A topic one may publish to is one that one may read; publish-only tokens see exactly theirs.
    private func publishableTopics(_ caller: Identity) -> AccessDecision {
        AccessPolicy.decision(.read, on: topics, for: caller)
    }
}
