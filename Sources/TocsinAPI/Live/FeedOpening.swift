import TocsinCore

/// Where a subscription begins in its feed.
struct FeedStart: Sendable {
    var scope: FeedScope
    /// It hears of messages after this offset.
    var after: Int64
    /// The mark of the message at that position, where one is known.
    var mark: MessageMark?
    /// Whether there may be stored ones among them.
    var replays: Bool
    /// Whether the caller may read the topic by a grant alone.
    var isByGrant = false
}

/// Finds where a subscription to new messages begins, or why it cannot begin there.
struct FeedOpening {
    let services: Services
    let caller: Identity

    /// The start in the feed of the topic named, or of all the caller's topics; nil where there
    /// is no one feed of these.
    ///
    /// A cursor that cannot be honoured is refused, together with the oldest one that can be. So a
    /// client misses what lies between only if it decides to. An empty cursor stands before the
    /// first message that is kept.
    func start(topic: TopicID?, cursor text: String?) async throws(ServiceError) -> FeedStart? {
        guard let scope = topic.map(FeedScope.topic) ?? services.feeds.ownFeed(of: caller) else {
            if text == nil { return nil }
            throw .badCursor(Self.needsTopic, oldest: nil)
        }
        let cursor = text.flatMap { MessageCursor(text: $0, sealer: services.sealer) }
        let asked = cursor?.offset(in: scope)
        guard let stand = try await services.feeds.stand(of: scope, at: asked, caller: caller) else {
            guard let cursor, cursor.offset(in: scope) != nil, wasOwn(cursor) else { throw .unauthorized }
            throw .cursorExpired(Self.topicIsGone, oldest: nil)
        }
        let (bounds, mark) = (stand.bounds, stand.message.map(MessageMark.init))
        var start = FeedStart(scope: scope, after: bounds.last, mark: mark, replays: text != nil)
        start.isByGrant = stand.isByGrant
        guard let text else { return start }
        (start.after, start.mark) = (bounds.first - 1, nil)
        if text.isEmpty { return start }
        let oldest = MessageCursor(scope, at: bounds.first - 1).text(sealer: services.sealer)
        guard let cursor else { throw .badCursor(Self.changed, oldest: oldest) }
        guard let offset = cursor.offset(in: scope) else {
            throw .badCursor(topic == nil ? Self.notOwn : Self.otherTopic, oldest: oldest)
        }
        guard offset <= bounds.last else { throw .badCursor(Self.notYet, oldest: oldest) }
        guard offset >= bounds.first - 1 else { throw .cursorExpired(Self.pruned, oldest: oldest) }
        // Numbers are given again after a restore: then another message stands at the offset.
        if let mark, let old = cursor.mark, old != mark { throw .badCursor(Self.notYet, oldest: oldest) }
        (start.after, start.mark) = (offset, cursor.mark)
        return start
    }

    /// Whether the caller was given the cursor with a message of theirs: then they may know
    /// that its topic was there.
    private func wasOwn(_ cursor: MessageCursor) -> Bool {
        if case .owner(let owner)? = services.feeds.ownFeed(of: caller) { cursor.belongs(to: owner) } else { false }
    }

    static let topicIsGone = "The topic of this cursor was deleted, and its feed with it. Choose another topic."
    static let pruned =
        "Some messages after this cursor are no longer kept. Subscribe again with extensions.oldestCursor, which is behind "
        + "them; what other topics have kept from before it is in their own feeds."
    private static let needsTopic =
        "You hear of more than one owner's messages, and cursors over all topics exist within one owner's alone. Name a topicId."
    private static let changed =
        "This cursor was changed, or is none. Use one as you got it, or extensions.oldestCursor."
    private static let otherTopic =
        "This cursor belongs to another topic. Use one of this topic, or extensions.oldestCursor."
    private static let notOwn =
        "This cursor does not say where you stand in all your topics together: it is another user's, or of one topic alone. "
        + "Name its topicId, or use extensions.oldestCursor."
    private static let notYet =
        "This cursor is of a message that is not there: the server's data may have been restored from before it. Read the feed "
        + "anew, for instance with extensions.oldestCursor."
}
