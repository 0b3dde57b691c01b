/// Creates topics, under names that are their owner's only once.
///
/// Their creator becomes a member, and a topic without an ARN gets one.
package struct TopicService: Sendable {
    private let environment: ServiceEnvironment
    private let model: ModelType
    private let checks: InputChecks

    /// A service for the topics of one schema.
    package init(environment: ServiceEnvironment, model: ModelType) {
        self.environment = environment
        self.model = model
        checks = InputChecks(limits: environment.limits)
    }

    /// Creates a topic and its creator's membership, unless its owner has as
    /// many topics as one may have.
    package func create(
        _ input: RecordInput,
        condition: Predicate = .always,
        caller: Identity
    ) async throws(ServiceError) -> Record {
        guard case .allow(let permitted) = AccessPolicy.decision(.create, on: model, for: caller) else {
            throw .unauthorized
        }
        try checks.check(input, of: model)
        try environment.takeStorage(for: input, of: model, by: caller)
        let (environment, model) = (environment, model)
        let id = input["id"]?.text ?? environment.identifiers.makeID()
        return try await environment.writing(within: .topics) { writer throws(StoreError) in
            let factory = RecordFactory(model: model)
            let now = environment.changeTime()
            var record = factory.make(input, id: id, caller: caller, at: now)
            if record["arn"].isNull {
                record["arn"] = .text("arn:tocsin:topic:\(caller.username):\(record["name"].text ?? "")")
            }
            guard permitted.matches(record), caller.mayWrite(input, .create, to: record) else {
                return .failure(.unauthorized)
            }
            guard condition.matches(Record(model: model)) else { return .failure(.conditionFailed(nil)) }
            guard try hasRoom(for: record, writer) else {
                let maximum = environment.limits.topicsPerOwner
                return .failure(.limit("You may have at most \(maximum) topics; delete one first."))
            }
            if let taken = try nameTaken(by: record, caller, writer) { return .failure(taken) }
            if let stored = try writer.insert(record) {
                return factory.outcome(
                    ofRepeating: input,
                    stored: stored,
                    caller: caller,
                    defaults: ["arn": record["arn"]]
                )
            }
            if caller.isPerson {
                try writer.save(
                    Membership(topicID: TopicID(id), userID: caller.userID, push: true, createdAt: now)
                )
            }
            try writer.record(
                environment.audit(
                    action: "topic.create",
                    by: caller,
                    on: .topic(TopicID(id)),
                    detail: ["name": record["name"].text.map { .text($0) }]
                )
            )
            writer.note(.created(record))
            return .success(record)
        }
    }

    /// The refusal of a name that another topic of the owner has.
    ///
    /// A repeat of a create makes no new topic.
    private func nameTaken(
        by topic: Record,
        _ caller: Identity,
        _ writer: any StoreWriter
    ) throws(StoreError) -> ServiceError? {
        guard let taken = try TopicNames(model, environment.models)?.refusal(of: topic, caller: caller, writer) else {
            return nil
        }
        return try writer.unlocked.records(model, ids: [topic.id], where: .always).isEmpty ? taken : nil
    }

    /// Whether the owner may have one topic more, or has this one already.
    private func hasRoom(for topic: Record, _ writer: any StoreWriter) throws(StoreError) -> Bool {
        guard let owner = topic.owner, try writer.hasTopics(environment.limits.topicsPerOwner, owner: owner) else {
            return true
        }
        return try !writer.records(model, ids: [topic.id], where: .always).isEmpty
    }
}
