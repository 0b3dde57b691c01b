/// The incidents of the server: takes what senders say, and lets people answer.
///
/// All that one request or act brings about is one transaction, under the lock of its topic: the
/// incident, its alerts, timeline, timers, messages and fan-outs. So each event and each act meets
/// an incident as the one before has left it, on all nodes.
package struct IncidentBook: EventIntake {
    let environment: ServiceEnvironment
    let messages: MessageService
    let rights: PushRights
    /// Nil: the team's file has a model of this name, so events make plain messages.
    let model: ModelType?
    private let scheduled: ScheduledMessageService
    var topics: ModelType { rights.topics }
    /// The time now, as incidents go by it.
    package var now: Timestamp { environment.time.now() }

    /// - Parameters:
    ///   - model: The shipped model of incidents; nil where there is none.
    ///   - scheduled: Makes the messages that are to come later.
    package init(
        environment: ServiceEnvironment,
        messages: MessageService,
        rights: PushRights,
        model: ModelType?,
        scheduled: ScheduledMessageService
    ) {
        (self.environment, self.messages, self.model, self.scheduled) = (environment, messages, model, scheduled)
        // Integrations go on while their owner is away.
        self.rights = PushRights(
            topics: rights.topics,
            messages: rights.messages,
            claimedGroups: rights.claimedGroups
        )
    }

    /// Takes the events of one request in their order, in one transaction; many events in several,
    /// with others' writes between, where a repeat of all changes nothing.
    package func take(
        _ events: [SenderEvent],
        from integration: Integration
    ) async throws(ServiceError) -> [EventOutcome] {
        let events = events.map { Self.cleaned($0) }
        guard events.count > Self.eventsAtOnce, events.allSatisfy({ isLevel($0, of: integration) }) else {
            return try await take(events[...], of: events, from: integration)
        }
        // Those that were taken before a failure stay: the sender sends all again.
        var outcomes: [EventOutcome] = []
        for first in stride(from: 0, to: events.count, by: Self.eventsAtOnce) {
            let end = min(first + Self.eventsAtOnce, events.count)
            outcomes += try await take(events[first..<end], of: first == 0 ? events : [], from: integration)
        }
        return outcomes
    }

    /// So many events hold the writer at once.
    static let eventsAtOnce = 25

    /// Whether an event says how things are, so that it may be said again.
    private func isLevel(_ event: SenderEvent, of integration: Integration) -> Bool {
        guard model != nil, integration.grouping != .none, event.key != nil else { return false }
        switch event.action {
        case .trigger, .acknowledge, .resolve, .ping, .ignore: return true
        case .log: return false
        }
    }

    /// Takes some events in one transaction; `counted` are those whose texts are counted with it.
    private func take(
        _ events: ArraySlice<SenderEvent>,
        of counted: [SenderEvent],
        from integration: Integration
    ) async throws(ServiceError) -> [EventOutcome] {
        guard integration.routes.isEmpty else { return try await takeRouted(events, from: integration) }
        let book = self
        let withdrawn = try await withdrawnPlaces(of: events, from: integration)
        if let withdrawn, withdrawn.values.allSatisfy(\.isEmpty), events.allSatisfy(\.onlyWithdraws) {
            return events.map { EventOutcome(key: $0.key) }
        }
        let isOfKeys = isOfKeys(events, of: integration)
        let outcomes = try await environment.store.writing { writer throws(StoreError) -> Outcomes in
            guard let (topic, author) = try book.publisher(integration, writer.unlocked) else {
                return .failure(.unauthorized)
            }
            let turn = try IncidentTurn(book, topic, by: author, writer)
            if isOfKeys, try book.isOpenElsewhere(integration, writer.unlocked) { return .success(nil) }
            do throws(ServiceError) {
                try book.takeStorage(for: counted, in: topic, by: author)
            } catch {
                return .failure(error)
            }
            turn.withdrawn = withdrawn ?? [:]
            var outcomes: [EventOutcome] = []
            for event in events {
                outcomes += [try turn.take(event, from: integration)]
            }
            try turn.end()
            return .success(outcomes)
        }
        if let outcomes { return outcomes }
        return try await takeRouted(events, from: integration)
    }

    /// Nil: incidents are open in other topics, which are to be held too.
    private typealias Outcomes = Result<[EventOutcome]?, ServiceError>

    /// The topic of an integration and its owner as they are now; nil where there is no such topic,
    /// or they may not publish to it any more.
    func publisher(
        _ integration: Integration,
        _ reader: any StoreReader
    ) throws(StoreError) -> (topic: Record, author: Identity)? {
        guard let author = try rights.person(ofOwner: integration.owner, at: environment.time.now(), reader),
            let topic = try reader.records(topics, ids: [integration.topicID.text], where: .always).first,
            try mayPublish(author, to: topic, reader)
        else { return nil }
        return (topic, author)
    }

    /// Whether somebody may make messages in a topic, by the rules or by a grant.
    func mayPublish(_ caller: Identity, to topic: Record, _ reader: any StoreReader) throws(StoreError) -> Bool {
        try !publishable([topic], by: caller, reader).isEmpty
    }

    /// Those of these topics that somebody may make messages in, by the rules or by a grant.
    func publishable(
        _ topics: [Record],
        by caller: Identity,
        _ reader: any StoreReader
    ) throws(StoreError) -> [Record] {
        guard case .allow(let permitted) = AccessPolicy.decision(.create, on: rights.messages, for: caller),
            case .allow(let publishable) = AccessPolicy.decision(.read, on: rights.topics, for: caller)
        else { return [] }
        let there = topics.filter { !$0.isDeleted }
        let others = there.filter { !publishable.matches($0) }.map { TopicID($0.id) }
        guard !others.isEmpty else { return there }
        let subjects = permitted.grantQuestions.first?.subjects ?? []
        let granted = subjects.isEmpty ? GrantedRoles() : try reader.roles(of: subjects, in: others)
        return there.filter { topic in
            let roles = granted.roles(of: subjects, in: TopicID(topic.id))
            return publishable.matches(topic) || !roles.isDisjoint(with: .publishing)
        }
    }

    /// Counts all texts of a request together.
    func takeStorage(
        for events: [SenderEvent],
        in topic: Record,
        by author: Identity
    ) throws(ServiceError) {
        var texts = RecordInput()
        for (index, event) in events.enumerated() {
            let calls = event.buttons.compactMap(\.sealedCall).joined()
            texts["\(index)"] = .text(event.title + event.body + calls)
        }
        try environment.takeStorage(for: texts, of: rights.messages, by: author, sharedBy: topic.owner)
    }

    /// An event within what is stored: databases take no zero bytes, and phones not every key.
    static func cleaned(_ event: SenderEvent) -> SenderEvent {
        func clean(_ text: String, _ bytes: Int) -> String {
            let text = text.contains("\0") ? text.filter { $0 != "\0" } : text
            return text.utf8.count <= bytes ? text : String(decoding: text.utf8.prefix(bytes), as: UTF8.self)
        }
        var event = event
        event.key = event.key.map { clean($0, maximumKeyBytes) }.flatMap { $0.isEmpty ? nil : $0 }
        (event.title, event.body) = (clean(event.title, 1024), clean(event.body, 65_536))
        event.data = event.data.reduce(into: [:]) { data, member in
            guard !PushDataKeys.isReserved(member.key) else { return }
            data[clean(member.key, 256)] = clean(member.value, 4096)
        }
        event.labels = event.labels.reduce(into: [:]) { $0[clean($1.key, 256)] = clean($1.value, 4096) }
        event.priority = event.priority.map { min(5, max(1, $0)) }
        event.messageKey = event.messageKey.map { clean($0, 256) }
        event.url = event.url.map { clean($0, 2048) }
        event.category = event.category.map { clean($0, 256) }
        event.alerts = event.alerts.map { alert in
            var alert = alert
            alert.fingerprint = clean(alert.fingerprint, 512)
            alert.title = clean(alert.title, 1024)
            alert.url = alert.url.map { clean($0, 2048) }
            alert.labels = alert.labels.reduce(into: [:]) { $0[clean($1.key, 256)] = clean($1.value, 1024) }
            return alert
        }
        return event
    }

    private static let maximumKeyBytes = 2048

    /// Lets a message come later; nil where that cannot be, and it is to come at once.
    func schedule(
        _ input: String,
        _ wish: ScheduledMessage.PushWord,
        id: String?,
        at moment: Timestamp,
        in topic: TopicID,
        by author: Identity,
        _ writer: any StoreWriter
    ) throws(StoreError) -> String? {
        var plan = ScheduledMessage.Plan()
        (plan.topicID, plan.input, plan.dueAt) = (topic, input, moment)
        var message = ScheduledMessage(
            id: id ?? environment.identifiers.makeID(),
            owner: ScheduledMessage.Owner(
                userID: author.userID,
                username: author.username,
                provider: author.provider
            ),
            plan: plan,
            createdAt: environment.time.now()
        )
        (message.nextAt, message.wish) = (moment, wish)
        guard case .success = try scheduled.insert(message, nil, by: author, writer) else { return nil }
        return message.id
    }
}
