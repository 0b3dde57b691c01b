/// What a withdrawal finds under its key.
struct WithdrawnPlace: Sendable {
    /// Whether a message is on the screen there.
    var isShown: Bool
    /// Ids of the messages that wait to come there.
    var waiting: Set<String>

    var isEmpty: Bool { !isShown && waiting.isEmpty }
}

extension SenderEvent {
    /// Whether it makes nothing but what takes something off the screen, at once.
    var onlyWithdraws: Bool { action == .log && isWithdrawal && messageKey == nil && dueAt == nil }
}

extension IncidentBook {
    /// What the withdrawals among some events find, by `collapseKey`; nil where there is none, or
    /// the integration's owner may not publish there, which the write answers.
    ///
    /// Up to 1,000 messages are looked through, so this is a read, which takes turns with others'
    /// and holds no writer. A message that comes between it and the write stays, as if it had come
    /// after the withdrawal; of two withdrawals at once both may take away, which shows the same.
    func withdrawnPlaces(
        of events: ArraySlice<SenderEvent>,
        from integration: Integration
    ) async throws(ServiceError) -> [String: WithdrawnPlace]? {
        let withdrawals = events.filter(\.isWithdrawal)
        guard !withdrawals.isEmpty else { return nil }
        let book = self
        let origin = ReadOrigin.owner(integration.owner)
        return try await environment.store.reading(for: origin) {
            reader throws(StoreError) -> [String: WithdrawnPlace]? in
            guard let (topic, author) = try book.publisher(integration, reader) else { return nil }
            return try Self.places(of: withdrawals, in: TopicID(topic.id), by: author, reader)
        }
    }

    /// What withdrawals find in one topic, by `collapseKey`.
    static func places(
        of withdrawals: [SenderEvent],
        in topic: TopicID,
        by author: Identity,
        _ reader: any StoreReader
    ) throws(StoreError) -> [String: WithdrawnPlace] {
        var places: [String: WithdrawnPlace] = [:]
        for event in withdrawals {
            guard let key = event.collapseKey, places[key] == nil else { continue }
            let waiting = try reader.delayedMessages(of: author.userID, in: topic, collapsedBy: key)
            let isShown = try isShown(event, under: key, in: topic, reader)
            places[key] = WithdrawnPlace(isShown: isShown, waiting: Set(waiting))
        }
        return places
    }

    /// Whether what was told last under a key is on the screen: it is there, and was no withdrawal
    /// itself.
    private static func isShown(
        _ withdrawal: SenderEvent,
        under key: String,
        in topic: TopicID,
        _ reader: any StoreReader
    ) throws(StoreError) -> Bool {
        let place = JSONMapText.text(key)
        let last = try reader.recentPushes(in: topic, with: place).first {
            JSONObjectText.member("collapseKey", of: $0.push) == place
        }
        guard let last else { return false }
        return !withdrawal.data.keys.contains { JSONObjectText.member($0, of: last.data) != nil }
    }
}
