/// Messages: durable, numbered and on their way to the devices when `create` returns.
package struct MessageService: Sendable {
    private let environment: ServiceEnvironment
    private let messages: ModelType
    private let topics: ModelType
    private let checks: InputChecks
    private let makers: MessageMakers
    private let topicsHaveIDs: Bool
    /// What a message has where its input says nothing.
    static let defaults: RecordInput = ["priority": .int(3)]
    /// A message stays in its topic, whose numbers have no holes.
    package static let lastingFields: Set<String> = ["topicId"]

    /// A service for the messages and topics of one schema.
    package init(environment: ServiceEnvironment, messages: ModelType, topics: ModelType) {
        self.environment = environment
        self.messages = messages
        self.topics = topics
        checks = InputChecks(limits: environment.limits)
        topicsHaveIDs = topics.keyFields == ["id"]
        makers = MessageMakers(environment: environment, messages: messages, topics: topics)
    }

    /// Creates a message in a topic the caller may publish to, with its fan-out, in one
    /// transaction (`MessageBatch`).
    ///
    /// The same `id`, or the same `key` in one topic, with the same content answers with the stored
    /// message and pushes nothing; with other content it is a conflict.
    package func create(
        _ input: RecordInput,
        condition: Predicate = .always,
        caller: Identity
    ) async throws(ServiceError) -> Record {
        try await publish(input, condition: condition, caller: caller).message
    }

    /// The same; answers also whether the message had been there before.
    package func publish(
        _ input: RecordInput,
        condition: Predicate = .always,
        caller: Identity
    ) async throws(ServiceError) -> (message: Record, isRepeated: Bool) {
        var draft = try draft(input, condition: condition, caller: caller)
        // Whoever may not publish there takes nothing of the owner's storage.
        if draft.sharedOwner != nil, try await sharedTopic(of: draft) == nil { throw .unauthorized }
        do throws(ServiceError) {
            try environment.takeStorage(for: input, of: messages, by: caller, sharedBy: draft.sharedOwner)
        } catch {
            // A repeat stores nothing.
            if let stored = try await stored(for: draft) { return (stored, true) }
            guard try await learnsSharer(of: draft) else { throw error }
            draft = try self.draft(input, condition: condition, caller: caller)
            try environment.takeStorage(for: input, of: messages, by: caller, sharedBy: draft.sharedOwner)
        }
        let outcome = try await written(draft)
        guard case .failure(.unauthorized) = outcome, isNewlyShared(draft) else {
            return (try outcome.get(), draft.wasRepeated)
        }
        draft = try self.draft(input, condition: condition, caller: caller)
        return (try await written(draft).get(), draft.wasRepeated)
    }

    private func written(_ draft: MessageDraft) async throws(ServiceError) -> Result<Record, ServiceError> {
        do throws(StoreError) {
            return try await draft.written(to: environment.store)
        } catch {
            throw ServiceError(error)
        }
    }

    /// Whether somebody else shares the draft's topic, which was not known: the message is theirs.
    private func learnsSharer(of draft: MessageDraft) async throws(ServiceError) -> Bool {
        guard let topic = try await sharedTopic(of: draft) else { return false }
        noteOwner(of: topic)
        return isNewlyShared(draft)
    }

    /// The topic of a draft, where somebody else's grant lets the caller publish there.
    private func sharedTopic(of draft: MessageDraft) async throws(ServiceError) -> Record? {
        let topics = topics
        return try await environment.store.reading(for: draft.caller.reads) {
            reader throws(StoreError) -> Record? in
            let topic = try reader.records(topics, ids: [draft.topicID.text], where: .always).first
            guard let topic, !topic.isDeleted else { return nil }
            if draft.mayPublish(to: topic) { return draft.sharedOwner == nil ? nil : topic }
            let roles = try reader.roles(of: draft.subjects, in: [draft.topicID])
            let isGranted = !roles.roles(of: draft.subjects, in: draft.topicID).isDisjoint(with: .publishing)
            return isGranted && draft.mayReach(draft.topicID) ? topic : nil
        }
    }

    /// Whether a draft was refused only because nobody knew yet whose the shared topic is.
    private func isNewlyShared(_ draft: MessageDraft) -> Bool {
        let owner = makers.sharedOwners.owner(of: draft.topicID, for: draft.caller)
        return owner != nil && owner != draft.sharedOwner
    }

    /// Makes known whose a topic is, for drafts of callers who are not its owner.
    func noteOwner(of topic: Record) {
        if let owner = topic.owner { makers.sharedOwners.note(owner, of: TopicID(topic.id)) }
    }

    /// The stored message that a draft repeats; nil where it would make a new one, or is refused.
    private func stored(for draft: MessageDraft) async throws(ServiceError) -> Record? {
        let messages = messages
        let found = try await environment.store.reading(for: draft.caller.reads) {
            reader throws(StoreError) -> Record? in
            if let id = draft.givenID {
                let found = try reader.records(messages, ids: [id], where: .always)
                if let message = found.first { return message }
            }
            guard let key = draft.key else { return nil }
            return try reader.messages(messages, keys: [key]).first
        }
        guard let found, case .success(let stored) = draft.outcome(ofRepeating: found) else { return nil }
        return stored
    }

    /// The message to be created, with all checks done that need nothing from the store.
    ///
    /// - Parameter wish: What a sender said of its push.
    func draft(
        _ input: RecordInput,
        condition: Predicate = .always,
        wish: ScheduledMessage.PushWord = ScheduledMessage.PushWord(),
        caller: Identity
    ) throws(ServiceError) -> MessageDraft {
        guard case .allow(let permitted) = AccessPolicy.decision(.create, on: messages, for: caller),
            case .allow(let publishable) = publishableTopics(caller)
        else { throw .unauthorized }
        try checks.check(input, of: messages)
        var input = try messages.typeNames.completed(input, of: messages)
        var ours: [(String, String)] = []
        if let key = wish.collapseKey { ours.append(("collapseKey", JSONMapText.text(key))) }
        if let calls = wish.calls { ours.append((ButtonCall.member, calls)) }
        if !ours.isEmpty {
            let given: String? = if case .json(let text)? = input["push"] { text } else { nil }
            input["push"] = .json(JSONObjectText.merged(given ?? "{}", JSONMapText.object(ours)))
        }
        let topic = input.value(ofFieldAt: messages.knownPositions.topic, in: messages)?.text ?? ""
        guard !topicsHaveIDs || InputChecks.mayBeID(topic) else { throw .unauthorized }
        return MessageDraft(
            makers,
            MessageContent(
                input: input,
                topicID: TopicID(topic),
                condition: condition,
                isPushed: wish.isPushed
            ),
            by: caller,
            PublishRules(permitted: permitted, publishable: publishable)
        )
    }

    /// A message that the server makes in a topic, as somebody who was asked before whether they
    /// may bring it about.
    func serversDraft(
        _ input: RecordInput,
        in topic: Record,
        by caller: Identity,
        about incident: (id: String, change: IncidentChange)?,
        isPushed: Bool
    ) -> MessageDraft {
        MessageDraft(
            makers,
            MessageContent(
                input: input,
                topicID: TopicID(topic.id),
                condition: .always,
                serversWord: MessageContent.ServersWord(owner: topic.owner, incident: incident),
                isPushed: isPushed
            ),
            by: caller,
            PublishRules(permitted: .always, publishable: .always)
        )
    }

    /// The topics that the caller may publish to are those they may read; a publish-only token sees
    /// its own topic alone.
    private func publishableTopics(_ caller: Identity) -> AccessDecision {
        AccessPolicy.decision(.read, on: topics, for: caller)
    }
}
