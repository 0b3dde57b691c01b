/// How far people have read: what the badges of their devices count.
package struct ReadMarkService: Sendable {
    private let environment: ServiceEnvironment
    private let topics: ModelType

    /// A service for the topics of one schema.
    package init(environment: ServiceEnvironment, topics: ModelType) {
        self.environment = environment
        self.topics = topics
    }

    /// Whether the caller may see how far they have read.
    package func mayLook(_ caller: Identity) -> Bool { AccessPolicy.mayManageOwnThings(caller, writing: false) }

    /// The caller's marks.
    package func marks(caller: Identity) async throws(ServiceError) -> [ReadMark] {
        guard mayLook(caller) else { throw .unauthorized }
        let visible = visible(to: caller)
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try marks(of: caller, where: visible, reader)
        }
    }

    /// Marks a topic that the caller may read up to a number, or all of it;
    /// answers all the caller's marks.
    ///
    /// Without a topic, all topics that the caller is a member of or has marked before.
    package func markRead(
        _ topicID: TopicID?,
        upTo number: MessageNumber?,
        caller: Identity
    ) async throws(ServiceError) -> [ReadMark] {
        guard AccessPolicy.mayManageOwnThings(caller, .ofDevices, writing: true),
            case .allow(let visible) = AccessPolicy.decision(.read, on: topics, for: caller)
        else { throw .unauthorized }
        if let number, number < 0 { throw .badInput("number must not be negative; it is \(number).") }
        guard topicID != nil || number == nil else {
            throw .badInput("number needs topicId: messages are numbered in their topic.")
        }
        let (topics, time) = (topics, environment.time)
        return try await environment.store.writing { writer throws(StoreError) in
            if let topicID {
                let topic = try writer.records(topics, ids: [topicID.text], where: visible).first
                guard let topic, !topic.isDeleted else { return .failure(.unauthorized) }
                try writer.markRead(topicID, upTo: number ?? .max, by: caller.userID, now: time.now())
            } else {
                try writer.markAllRead(by: caller.userID, now: time.now())
            }
            return .success(try marks(of: caller, where: visible, writer.unlocked))
        }
    }

    private func visible(to caller: Identity) -> Predicate {
        guard case .allow(let visible) = AccessPolicy.decision(.read, on: topics, for: caller) else { return .never }
        return visible
    }

    /// The marks in topics that the caller may read now: a mark may outlive the right to.
    private func marks(
        of caller: Identity,
        where visible: Predicate,
        _ reader: any StoreReader
    ) throws(StoreError) -> [ReadMark] {
        let marks = try reader.readMarks(of: caller.userID)
        guard visible != .always, !marks.isEmpty else { return marks }
        let readable = Set(try reader.records(topics, ids: marks.map(\.topicID.text), where: visible).map(\.id))
        return marks.filter { readable.contains($0.topicID.text) }
    }
}
