// Messages that are events: one message, one event.
extension IncidentBook {
    /// Creates a message in a topic that the caller may publish to, which opens, raises, takes on
    /// or ends the topic's incident of a key; answers also whether the message was there before.
    ///
    /// The message stands in place of the one that the server would make. Where the event changes
    /// nothing, it is told of quietly. A message that is repeated is no event.
    package func publish(
        _ input: RecordInput,
        about: MessageIncident,
        condition: Predicate = .always,
        caller: Identity
    ) async throws(ServiceError) -> (message: Record, isRepeated: Bool) {
        guard let model else { throw .badInput("This server has no incidents; leave input.incident out.") }
        guard !about.key.isEmpty else { throw .badInput("input.incident.key must not be empty.") }
        try InputChecks(limits: environment.limits)
            .checkText(about.key, field: "input.incident.key", maximumBytes: Self.maximumPublishedKeyBytes)
        let draft = try messages.draft(input, condition: condition, caller: caller)
        if let priority = input["priority"]?.int, !(1...5).contains(priority) {
            throw .badInput("priority must be 1 (min) to 5 (critical); it is \(priority).")
        }
        let event = Self.cleaned(Self.event(of: input, about))
        var answering = IncidentAnswering()
        // Who may only publish is a sender.
        if !AccessPolicy.mayManageOwnThings(caller, writing: true) { answering = IncidentAnswering(via: .sender) }
        let (book, way) = (self, answering)
        return try await environment.store.writing { writer throws(StoreError) in
            let reader = writer.unlocked
            guard let topic = try reader.records(book.topics, ids: [draft.topicID.text], where: .always).first,
                try book.mayPublish(caller, to: topic, reader)
            else { return .failure(.unauthorized) }
            let turn = try IncidentTurn(book, topic, by: caller, writer)
            if let stored = try book.stored(draft, writer) {
                let roles = try reader.roles(of: draft.subjects, in: [draft.topicID])
                return RecordFactory(model: stored.model).outcome(
                    ofRepeating: Self.asStored(input, stored),
                    stored: stored,
                    caller: caller,
                    defaults: MessageService.defaults,
                    roles: roles
                ).map { ($0, true) }
            }
            guard condition.matches(Record(model: book.rights.messages)) else { return .failure(.conditionFailed(nil)) }
            do throws(ServiceError) {
                try book.environment.takeStorage(
                    for: input,
                    of: book.rights.messages,
                    by: caller,
                    sharedBy: topic.owner
                )
            } catch {
                return .failure(error)
            }
            let actor = try book.actor(caller, way, writer)
            turn.published = input
            let responder = actor.via == .sender ? nil : caller.userID
            let source = IncidentTurn.Source(of: draft.topicID, by: actor, responder: responder)
            let outcome = try turn.take(event, from: source, model)
            try turn.tellRest(of: outcome, by: actor)
            let made = try turn.end()
            guard let message = made.first(where: { $0.id == turn.told?.text }) else {
                return .failure(.internal("a message of an incident is not there"))
            }
            return .success((message, false))
        }
    }

    /// The input with what the server says itself of a message of an incident.
    private static func asStored(_ input: RecordInput, _ stored: Record) -> RecordInput {
        guard !stored["incidentId"].isNull else { return input }
        var input = input
        for name in ["priority", "data", "incidentId", "incidentChange"] { input[name] = stored[name] }
        if input["category"] == nil { input["category"] = stored["category"] }
        return input
    }

    private static let maximumPublishedKeyBytes = 512

    /// What a message says as an event.
    private static func event(of input: RecordInput, _ about: MessageIncident) -> SenderEvent {
        var event = SenderEvent(
            about.action,
            key: about.key,
            title: input["title"]?.text ?? "",
            body: input["body"]?.text ?? ""
        )
        event.priority = input["priority"]?.int.map(Int.init)
        event.url = input["url"]?.text
        event.data = about.data
        return event
    }

    /// The message that a draft repeats.
    private func stored(_ draft: MessageDraft, _ writer: any StoreWriter) throws(StoreError) -> Record? {
        if let id = draft.givenID,
            let found = try writer.records(rights.messages, ids: [id], where: .always).first
        {
            return found
        }
        guard let key = draft.key else { return nil }
        return try writer.messages(rights.messages, keys: [key]).first
    }
}
