/// An event of an integration with routes, on its way into a topic.
private struct RoutedEvent: Sendable {
    /// Which of the events that came it is a part of.
    var place: Int
    var event: SenderEvent
    /// The topic of its route; nil: the integration's own.
    var wanted: TopicID?
}

// Events that go where their labels say.
extension IncidentBook {
    /// Takes events of an integration with routes in one transaction.
    ///
    /// A key's incident stays in the topic where it was opened, whatever labels come later. All
    /// events of the integration hold its own topic, so no two of them open the same key at once.
    func takeRouted(
        _ events: ArraySlice<SenderEvent>,
        from integration: Integration
    ) async throws(ServiceError) -> [EventOutcome] {
        let routed = Self.routed(events, integration)
        let withdrawn = try await routedWithdrawals(of: routed, from: integration)
        let isNothingShown = withdrawn.values.allSatisfy { $0.values.allSatisfy(\.isEmpty) }
        if !withdrawn.isEmpty, isNothingShown, events.allSatisfy(\.onlyWithdraws) {
            return events.map { EventOutcome(key: $0.key) }
        }
        let (book, count, isOfKeys) = (self, events.count, isOfKeys(events, of: integration))
        return try await environment.store.writing { writer throws(StoreError) in
            guard let (own, author) = try book.publisher(integration, writer.unlocked) else {
                return .failure(.unauthorized)
            }
            let choice = try RouteChoice(integration, own, author, book, isOfKeys, writer.unlocked)
            let likely = try book.held(routed, choice, withdrawn, writer.unlocked)
            do throws(ServiceError) {
                for (topic, events) in likely.events.values {
                    try book.takeStorage(for: events, in: topic, by: author)
                }
            } catch {
                return .failure(error)
            }
            let owners = Set(likely.topics.map { $0.owner ?? author.owner })
            _ = try writer.hold(likely.topics.map { TopicID($0.id) }, of: book.topics, feedsOf: owners.sorted())
            guard try choice.knowsAllOpen(writer.unlocked) else { throw Self.openedElsewhere }
            var turns: [String: IncidentTurn] = [:]
            for topic in likely.topics {
                let turn = try IncidentTurn(book, topic, by: author, writer)
                turn.withdrawn = withdrawn[TopicID(topic.id)] ?? [:]
                turns[topic.id] = turn
            }
            var outcomes = [EventOutcome?](repeating: nil, count: count)
            for item in routed {
                for (topic, note) in try choice.topics(of: item, withdrawn, writer) {
                    guard let turn = turns[topic.id] else {
                        throw Self.openedElsewhere
                    }
                    var outcome = try turn.take(item.event, from: integration.placed(in: TopicID(topic.id)))
                    outcome.note = note
                    if topic.id != own.id { outcome.topicID = TopicID(topic.id) }
                    outcomes[item.place] = outcomes[item.place] ?? outcome
                }
            }
            // In one order on all nodes.
            for (_, turn) in turns.sorted(by: { $0.key < $1.key }) { try turn.end() }
            return .success(zip(outcomes, events).map { $0 ?? EventOutcome(key: $1.key) })
        }
    }

    /// Whether an incident of the integration may be open in a topic that is neither its own nor
    /// one of its routes: a route that was taken away, or a move, has left it there.
    func isOpenElsewhere(_ integration: Integration, _ reader: any StoreReader) throws(StoreError) -> Bool {
        try RouteChoice.openTopics(of: integration, reader).contains { $0 != integration.topicID }
    }

    /// Whether one of these events is about an incident of its key.
    func isOfKeys(_ events: ArraySlice<SenderEvent>, of integration: Integration) -> Bool {
        model != nil && events.contains { $0.isOfIncident(by: integration) }
    }

    /// The write begins again and looks there too.
    private static var openedElsewhere: StoreError {
        .overtaken(isWhole: false, code: 0, message: "an incident was opened elsewhere", sql: "")
    }

    /// The topics that events of these may go to, with the texts that each is to store.
    ///
    /// What others open meanwhile may be elsewhere; then the write begins again.
    private func held(
        _ routed: [RoutedEvent],
        _ choice: RouteChoice,
        _ withdrawn: [TopicID: [String: WithdrawnPlace]],
        _ reader: any StoreReader
    ) throws(StoreError) -> (topics: [Record], events: [String: (topic: Record, events: [SenderEvent])]) {
        var topics = [choice.own.id: choice.own]
        var events: [String: (topic: Record, events: [SenderEvent])] = [:]
        for item in routed {
            for (topic, _) in try choice.topics(of: item, withdrawn, reader) {
                topics[topic.id] = topic
                events[topic.id, default: (topic, [])].events.append(item.event)
            }
            // An event before it in this request may open or end what it is about.
            let byLabels = choice.byLabels(item).topic
            topics[byLabels.id] = byLabels
        }
        return (topics.values.sorted { $0.id < $1.id }, events)
    }

    /// The events with what their routes say.
    private static func routed(_ events: ArraySlice<SenderEvent>, _ integration: Integration) -> [RoutedEvent] {
        events.enumerated().flatMap { place, event in
            event.singles(of: integration).map { single in
                let route = integration.route(of: single)
                var single = single
                single.priority = route?.priority ?? single.priority
                return RoutedEvent(place: place, event: single, wanted: route?.topicID)
            }
        }
    }

    /// What withdrawals find in the topics that the integration posts to.
    private func routedWithdrawals(
        of routed: [RoutedEvent],
        from integration: Integration
    ) async throws(ServiceError) -> [TopicID: [String: WithdrawnPlace]] {
        let withdrawals = routed.map(\.event).filter(\.isWithdrawal)
        guard !withdrawals.isEmpty else { return [:] }
        let book = self
        return try await environment.store.reading(for: .owner(integration.owner)) {
            reader throws(StoreError) -> [TopicID: [String: WithdrawnPlace]] in
            guard let (own, author) = try book.publisher(integration, reader) else { return [:] }
            var places: [TopicID: [String: WithdrawnPlace]] = [:]
            for id in try RouteChoice(integration, own, author, book, false, reader).candidates.keys {
                places[id] = try Self.places(of: withdrawals, in: id, by: author, reader)
            }
            return places
        }
    }

    /// Those of these topics that somebody may make messages in, by the rules or by a grant.
    func publishable(
        _ ids: some Collection<TopicID>,
        by caller: Identity,
        _ reader: any StoreReader
    ) throws(StoreError) -> [TopicID: Record] {
        guard !ids.isEmpty else { return [:] }
        let there = try reader.records(topics, ids: ids.map(\.text), where: .always)
        return try publishable(there, by: caller, reader).reduce(into: [:]) { $0[TopicID($1.id)] = $1 }
    }
}

/// The topics of an integration's routes, as its owner may publish to them in one transaction.
private struct RouteChoice {
    let integration: Integration
    /// The integration's own topic.
    let own: Record
    /// Its own and those of its routes, where the owner may publish now.
    let candidates: [TopicID: Record]
    /// Others in which its incidents are open, where the owner may publish now.
    private let former: [TopicID: Record]
    /// All that were looked at; nil: no event asks where incidents are open.
    private let known: Set<TopicID>?

    /// So many topics in which incidents are open are looked at.
    private static let maximumOpen = 50

    /// - Parameter isOfKeys: Whether an event is about an incident of its key.
    init(
        _ integration: Integration,
        _ own: Record,
        _ author: Identity,
        _ book: IncidentBook,
        _ isOfKeys: Bool,
        _ reader: any StoreReader
    ) throws(StoreError) {
        let routed = Set(integration.routedTopics + [integration.topicID])
        let open = isOfKeys ? try Self.openTopics(of: integration, reader) : []
        let known = routed.union(open)
        var found = try book.publishable(known.subtracting([TopicID(own.id)]), by: author, reader)
        found[TopicID(own.id)] = own
        (self.integration, self.own, self.known) = (integration, own, isOfKeys ? known : nil)
        candidates = found.filter { routed.contains($0.key) }
        former = found.filter { !routed.contains($0.key) }
    }

    /// The topics in which incidents of an integration are open.
    static func openTopics(of integration: Integration, _ reader: any StoreReader) throws(StoreError) -> [TopicID] {
        try reader.openSources(in: integration.incidentSources, limit: maximumOpen)
            .map { integration.topic(ofSource: $0) }
    }

    /// Whether no incident was opened in a topic that was not looked at; to be asked under the lock
    /// of the own topic.
    func knowsAllOpen(_ reader: any StoreReader) throws(StoreError) -> Bool {
        guard let known else { return true }
        return try Self.openTopics(of: integration, reader).allSatisfy { known.contains($0) }
    }

    /// Where an event goes by its labels alone, with what the owner should know.
    func byLabels(_ item: RoutedEvent) -> (topic: Record, note: String?) {
        guard let wanted = item.wanted else { return (own, nil) }
        if let topic = candidates[wanted] { return (topic, nil) }
        return (own, IntegrationRoute.note(of: wanted))
    }

    /// Where an event goes: one topic, but for withdrawals, which go wherever something is shown.
    func topics(
        of item: RoutedEvent,
        _ withdrawn: [TopicID: [String: WithdrawnPlace]],
        _ reader: any StoreReader
    ) throws(StoreError) -> [(topic: Record, note: String?)] {
        let event = item.event
        if event.isWithdrawal, let key = event.collapseKey {
            let shown = candidates.filter { withdrawn[$0.key]?[key]?.isEmpty == false }
            guard !shown.isEmpty else { return [(own, nil)] }
            return shown.sorted { $0.key.text < $1.key.text }.map { ($0.value, nil) }
        }
        if let topic = try topicOfIncident(event, isMatched: item.wanted != nil, reader) { return [(topic, nil)] }
        return [byLabels(item)]
    }

    /// The topic of the incident that an event is about.
    private func topicOfIncident(
        _ event: SenderEvent,
        isMatched: Bool,
        _ reader: any StoreReader
    ) throws(StoreError) -> Record? {
        guard event.isOfIncident(by: integration), let key = event.key else { return nil }
        let topics = bySource(candidates.merging(former) { own, _ in own })
        let sources = topics.keys.sorted()
        if let open = try reader.newestSource(of: key, among: sources, isOpen: true) { return topics[open] }
        let fingerprints = event.alerts.map(\.fingerprint)
        if !fingerprints.isEmpty, let open = try reader.firstSource(among: sources, firing: fingerprints) {
            return topics[open]
        }
        // A new trigger goes by its labels; what is said of one that is over goes where that is.
        guard event.action != .trigger, !isMatched else { return nil }
        let over = try reader.newestSource(of: key, among: bySource(candidates).keys.sorted(), isOpen: false)
        return over.flatMap { topics[$0] }
    }

    private func bySource(_ topics: [TopicID: Record]) -> [String: Record] {
        topics.reduce(into: [:]) { $0[integration.placed(in: $1.key).incidentSource] = $1.value }
    }
}

extension IntegrationRoute {
    /// What the owner of an integration is told of a route that leads nowhere.
    package static func note(of topic: TopicID) -> String {
        "the topic \(topic.text) of a route is not there, or the owner may not publish to it; "
            + "taken into the integration's own topic"
    }
}
