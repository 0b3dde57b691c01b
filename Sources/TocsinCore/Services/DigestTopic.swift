/// A person's own topic of digests, and what its messages say.
struct DigestTopic: Sendable {
    let environment: ServiceEnvironment
    let messages: MessageService
    let rights: PushRights
    private static let toldMessages = 5
    private static let toldTopics = 20
    /// Of a topic's new messages so many of the last are searched for the weightiest.
    private static let searched: Int64 = 1000
    /// No client may choose an id that begins so: nobody makes a person's topic before the server.
    private static let idPrefix = "digests:"

    init(environment: ServiceEnvironment, messages: MessageService, rights: PushRights) {
        (self.environment, self.messages) = (environment, messages)
        self.rights = PushRights(
            topics: rights.topics,
            messages: rights.messages,
            claimedGroups: rights.claimedGroups
        )
    }

    /// What a digest says.
    struct Content: Sendable {
        var title: String
        var body: String
        var key: String
        var url: String?
        var data: String?
    }

    /// A topic and how many messages of it a digest tells of.
    struct Count: Sendable {
        var window: DigestWindow
        var count: Int64
    }

    func id(of person: Identity) -> TopicID { TopicID(Self.idPrefix + DerivedUUID.text(of: "digests", person.owner)) }

    /// What others have granted a person in these topics.
    func roles(
        of person: Identity,
        in topics: [TopicID],
        _ reader: any StoreReader
    ) throws(StoreError) -> GrantedRoles {
        try reader.roles(of: GrantSubject.of(person), in: topics)
    }

    func mayRead(_ record: Record, _ person: Identity, _ roles: GrantedRoles) -> Bool {
        guard case .allow(let readable) = AccessPolicy.decision(.read, on: record.model, for: person) else {
            return false
        }
        return readable.matches(record, roles)
    }

    /// Title and body: how many messages each topic brought, and those of the highest priority.
    func text(
        of counts: [Count],
        from minPriority: Int64 = 1,
        for person: Identity,
        _ reader: any StoreReader
    ) throws(StoreError) -> (title: String, body: String) {
        let roles = try roles(of: person, in: counts.map(\.window.topicID), reader)
        var found: [(record: Record, topic: String)] = []
        for counted in counts {
            let window = counted.window
            let first = max(window.told + 1, window.first, window.last - Self.searched + 1)
            guard first <= window.last else { continue }
            let weightiest = try reader.weightiestMessages(
                rights.messages,
                of: window.topicID,
                numbers: first...window.last,
                limit: Self.toldMessages
            )
            found += weightiest.filter { priority($0) >= minPriority && mayRead($0, person, roles) }
                .map { (record: $0, topic: window.name) }
        }
        found.sort { (priority($0.record), $0.record.id) > (priority($1.record), $1.record.id) }
        let total = counts.reduce(0) { $0 + $1.count }
        var lines = counts.prefix(Self.toldTopics).map { "\($0.window.name): \($0.count)" }
        let others = counts.dropFirst(Self.toldTopics)
        if !others.isEmpty {
            lines.append(
                "\(Int64(others.count).counting("other topic")): \(others.reduce(0) { $0 + $1.count })"
            )
        }
        lines += found.prefix(Self.toldMessages).map { "– \($0.record["title"].text ?? "") (\($0.topic))" }
        let title = total.counting("new message") + " in " + Int64(counts.count).counting("topic")
        return (title, lines.joined(separator: "\n"))
    }

    private func priority(_ message: Record) -> Int64 { message["priority"].int ?? 3 }

    /// Writes a digest; nil when the rules let the person publish nothing, not even to a topic of
    /// their own.
    ///
    /// The topic and the person's feed are held already.
    func publish(
        _ content: Content,
        for person: Identity,
        _ writer: any StoreWriter
    ) throws(StoreError) -> MessageID? {
        let topic = id(of: person)
        try prepare(topic, of: person, writer)
        var input: RecordInput = [
            "topicId": .text(topic.text), "title": .text(content.title), "body": .text(content.body), "type": .int(0),
            "key": .text(content.key),
        ]
        if let url = content.url { input["url"] = .text(url) }
        if let data = content.data { input["data"] = .text(data) }
        let draft: MessageDraft
        do throws(ServiceError) {
            draft = try messages.draft(input, caller: person)
        } catch {
            return nil
        }
        let outcomes = try MessageDraft.perform([draft], writer)
        try writer.awaitAnswers()
        guard case .success(let message)? = outcomes().first else { return nil }
        return MessageID(message.id)
    }

    /// Makes the person's topic of digests, of which they get pushes.
    private func prepare(_ id: TopicID, of person: Identity, _ writer: any StoreWriter) throws(StoreError) {
        let stored = try writer.records(rights.topics, ids: [id.text], where: .always).first
        let (factory, now) = (RecordFactory(model: rights.topics), environment.changeTime())
        if let stored {
            guard stored.isDeleted else { return }
            var revived = factory.changed(stored, by: [:], at: now)
            revived["_deleted"] = .null
            try writer.update(revived)
        } else {
            let input: RecordInput = [
                "name": .text("digests"), "arn": .text("arn:tocsin:topic:\(person.username):digests"),
            ]
            let topic = factory.make(input, id: id.text, caller: person, at: now)
            _ = try writer.insert(topic)
            writer.note(.created(topic))
        }
        if try writer.membership(of: person.userID, in: id) == nil {
            try writer.save(Membership(topicID: id, userID: person.userID, push: true, createdAt: now))
        }
    }
}
