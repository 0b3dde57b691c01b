/// Which messages a feed holds, in one order that is that of their commits.
package enum FeedScope: Hashable, Sendable {
    /// A topic's messages, by number.
    case topic(TopicID)
    /// All messages of one owner, whatever their topics, by position.
    case owner(String)

    /// The position of a message in this feed; nil when the message is not part of it.
    package func offset(of message: Record) -> Int64? {
        switch self {
        case .topic: message.number
        case .owner(let owner): message.owner == owner ? message.feedPosition : nil
        }
    }
}

/// Some messages of a feed, in its order, and what the feed held when they were read: one snapshot.
package struct FeedPage: Sendable {
    /// The messages, by position in the feed.
    package var messages: [Record]
    /// What the feed held when they were read.
    package var bounds: FeedBounds
    /// Whether nothing was left to read behind them.
    package var isRest: Bool
    /// The offset up to which nothing is left to read: of the last message, or the feed's last
    /// where these are the rest.
    package var end: Int64
}

/// What a feed holds, and the message at one offset in it, if it is there: one snapshot.
package struct FeedStand: Sendable {
    /// What the feed held.
    package var bounds: FeedBounds
    /// The message at the position that was asked for; nil where none is there.
    package var message: Record?
    /// Whether the caller may read the topic by a grant alone.
    package var isByGrant = false
}

/// Feeds as they are replayed: stored messages after an offset.
///
/// A deleted message leaves the feed, and its number stays missing there.
package struct FeedService: Sendable {
    private let store: any Store
    private let messages: ModelType
    private let topics: ModelType

    /// A service for the messages and topics of one schema.
    package init(environment: ServiceEnvironment, messages: ModelType, topics: ModelType) {
        store = environment.store
        self.messages = messages
        self.topics = topics
    }

    /// The feed of everything that the caller may read; nil unless that is what one owner has.
    ///
    /// Only the messages of one owner are ordered across topics. A caller who may read more, by a
    /// rule for groups or for everybody, has a feed for each topic and none over all of them.
    package func ownFeed(of caller: Identity) -> FeedScope? {
        guard let owner = messages.feedOwner(of: caller), let position = messages.position(of: "owner"),
            let claim = messages.feedClaim,
            case .allow(let visible) = AccessPolicy.decision(.listen, on: messages, for: caller),
            // What is shared with the caller comes live beside it, and has feeds of its own.
            visible.withoutGrants == .field(position, .isOneOf(caller.ownerForms(of: claim).map(FieldValue.text)))
        else { return nil }
        return .owner(owner)
    }

    /// What the feed holds, with its message at a position, or its last message.
    ///
    /// Nil for a topic that is absent, deleted or somebody else's.
    package func stand(
        of scope: FeedScope,
        at offset: Int64? = nil,
        caller: Identity
    ) async throws(ServiceError) -> FeedStand? {
        let query = try query(scope, after: 0, limit: 1, caller)
        return try await store.reading(for: caller.reads) { [self] reader throws(StoreError) in
            try stand(query, at: offset, reader)
        }
    }

    /// Where the feeds of topics stand now; nothing for those that are absent,
    /// deleted or somebody else's.
    package func stands(
        of topics: [TopicID],
        caller: Identity
    ) async throws(ServiceError) -> [TopicID: FeedStand] {
        var queries: [TopicID: Query] = [:]
        for topic in topics { queries[topic] = try query(.topic(topic), after: 0, limit: 1, caller) }
        return try await store.reading(for: caller.reads) { [self, queries] reader throws(StoreError) in
            var stands: [TopicID: FeedStand] = [:]
            for (topic, query) in queries { stands[topic] = try stand(query, at: nil, reader) }
            return stands
        }
    }

    /// Messages after a position: at most `limit`, and no more once their texts reach the byte
    /// limit.
    ///
    /// Nil when the feed is gone.
    package func page(
        of scope: FeedScope,
        after offset: Int64,
        limit: Int,
        bytes: Int,
        caller: Identity
    ) async throws(ServiceError) -> FeedPage? {
        let query = try query(scope, after: offset, limit: limit, caller)
        return try await store.reading(for: caller.reads) { [self] reader throws(StoreError) in
            guard let bounds = try bounds(query, reader) else { return nil }
            let (found, isCut) = try reader.records(query.messages, upTo: bytes)
            let last = found.last.flatMap(scope.offset) ?? offset
            let isRest = !isCut && found.count < limit
            return FeedPage(
                messages: found,
                bounds: bounds,
                isRest: isRest,
                end: isRest ? max(last, bounds.last) : last
            )
        }
    }

    /// What is asked of the store for one feed and one caller.
    private struct Query: Sendable {
        var scope: FeedScope
        var messages: ModelQuery
        /// The topics that the caller may read.
        var topics: Predicate
        /// The messages that the caller may follow, whatever their topic.
        var visible: Predicate
    }

    private func query(
        _ scope: FeedScope,
        after offset: Int64,
        limit: Int,
        _ caller: Identity
    ) throws(ServiceError) -> Query {
        guard case .allow(let visible) = AccessPolicy.decision(.listen, on: messages, for: caller),
            let deletedField = messages.position(of: "_deleted")
        else { throw .unauthorized }
        let isKept = Predicate.field(deletedField, .notEqual(.bool(true)))
        let (predicate, readable, order): (Predicate, Predicate, Int?)
        switch scope {
        case .topic(let topic):
            guard case .allow(let topicsToRead) = AccessPolicy.decision(.read, on: topics, for: caller),
                let topicField = messages.position(of: "topicId")
            else { throw .unauthorized }
            readable = topicsToRead
            predicate = visible.and(.field(topicField, .equal(.text(topic.text))))
            order = messages.numberPosition
        case .owner(let owner):
            guard let ownerField = messages.position(of: "owner") else { throw .unauthorized }
            readable = .always
            predicate = .field(ownerField, .equal(.text(owner)))
            order = messages.position(of: ModelType.feedPosition)
        }
        guard let order else { throw .unauthorized }
        let query = ModelQuery(
            model: messages,
            predicate: predicate.and(isKept),
            order: [ModelQuery.Order(field: order)],
            after: [.int(offset)],
            limit: limit
        )
        return Query(scope: scope, messages: query, topics: readable, visible: visible)
    }

    private func stand(
        _ query: Query,
        at offset: Int64?,
        _ reader: any StoreReader
    ) throws(StoreError) -> FeedStand? {
        guard let (bounds, isByGrant) = try found(query, reader) else { return nil }
        let offset = offset ?? bounds.last
        guard offset > 0 else { return FeedStand(bounds: bounds, isByGrant: isByGrant) }
        var next = query.messages
        next.after = [.int(offset - 1)]
        let found = try reader.records(next).first { query.scope.offset(of: $0) == offset }
        return FeedStand(bounds: bounds, message: found, isByGrant: isByGrant)
    }

    private func bounds(_ query: Query, _ reader: any StoreReader) throws(StoreError) -> FeedBounds? {
        try found(query, reader)?.bounds
    }

    private func found(
        _ query: Query,
        _ reader: any StoreReader
    ) throws(StoreError) -> (bounds: FeedBounds, isByGrant: Bool)? {
        switch query.scope {
        case .topic(let topic):
            let found = try reader.records(topics, ids: [topic.text], where: query.topics).first
            guard let found, !found.isDeleted, let bounds = try reader.feedBounds(of: topic) else { return nil }
            return (bounds, try isByGrant(query, found, reader))
        case .owner(let owner):
            return (try reader.feedBounds(of: owner), false)
        }
    }

    /// Whether a grant alone lets the caller read the topic, or its messages, whose rules may be
    /// others.
    private func isByGrant(_ query: Query, _ topic: Record, _ reader: any StoreReader) throws(StoreError) -> Bool {
        guard query.topics.withoutGrants.matches(topic) else { return true }
        guard let question = query.visible.grantQuestions.first else { return false }
        // A message as the topic's owner has them.
        var message = Record(model: messages)
        message["topicId"] = .text(topic.id)
        message["owner"] = topic["owner"]
        guard !query.visible.withoutGrants.matches(message) else { return false }
        let roles = try reader.roles(of: question.subjects, in: [TopicID(topic.id)])
        return roles.holds(question, for: message)
    }

    /// What subjects have been granted, in force or later, for the live feed; nil where that is
    /// more than `limit`.
    ///
    /// Of topics of one owner there are no more than the share for which the feed has room.
    package func grants(
        of subjects: [GrantSubject],
        limit: Int,
        ownersShare: Int,
        caller: Identity
    ) async throws(ServiceError) -> [GrantChange]? {
        try await store.reading(for: caller.reads) { reader throws(StoreError) in
            // One more than the share, so that it is seen that some are left out.
            let found = try reader.grantedTopics(of: subjects, limit: limit + 1, perOwner: ownersShare + 1)
            return found.count > limit ? nil : found
        }
    }
}

extension ModelType {
    /// The owner text under which what the caller creates stands in a feed, where
    /// the server alone writes it.
    package func feedOwner(of caller: Identity) -> String? { feedClaim.flatMap { caller.ownerForms(of: $0).first } }
}
