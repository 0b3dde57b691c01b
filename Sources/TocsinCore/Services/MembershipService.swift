/// People's ties to topics: whose devices get a topic's pushes.
package struct MembershipService: Sendable {
    private let environment: ServiceEnvironment
    private let rights: PushRights
    private var topics: ModelType { rights.topics }

    /// A service for the topics that `rights` knows.
    package init(environment: ServiceEnvironment, rights: PushRights) {
        self.environment = environment
        self.rights = rights
    }

    /// Makes the caller a member of a topic that they may read.
    ///
    /// Without push, deliveries to their devices are skipped, waiting ones included. What is not
    /// given of `delivery` and `minPriority` stays as it was.
    package func join(
        _ topicID: TopicID,
        push: Bool = true,
        delivery: MembershipDelivery? = nil,
        minPriority: Int64? = nil,
        caller: Identity
    ) async throws(ServiceError) -> Membership {
        guard (1...5).contains(minPriority ?? 1) else {
            throw .badInput("minPriority must be 1 to 5; it is \(minPriority ?? 1).")
        }
        let visible = try readableTopics(caller)
        let (topics, time) = (topics, environment.time)
        let facts = UserFacts(of: caller, naming: rights.notedClaims, at: time.now())
        return try await environment.store.writing { writer throws(StoreError) in
            let topic = try writer.records(topics, ids: [topicID.text], where: visible).first
            guard let topic, !topic.isDeleted else { return .failure(.unauthorized) }
            let old = try writer.membership(of: caller.userID, in: topicID)
            var membership = Membership(
                topicID: topicID,
                userID: caller.userID,
                push: push,
                createdAt: old?.createdAt ?? environment.changeTime()
            )
            membership.delivery = delivery ?? old?.delivery ?? .now
            membership.minPriority = minPriority ?? old?.minPriority ?? 1
            try writer.save(membership)
            try writer.setLeft(nil, caller.userID, topicID)
            if membership.delivery == .digest, old?.delivery != .digest {
                // The first digest tells of what comes from now on.
                let last = try writer.feedBounds(of: topicID)?.last ?? 0
                try writer.setDigestNumber(last, of: caller.userID, in: topicID)
            }
            if let facts { try writer.save(facts) }
            if !push {
                try writer.settleDeliveries(
                    to: caller.userID,
                    of: topicID,
                    as: .skipped,
                    reason: .topicMuted,
                    now: time.now()
                )
            }
            return .success(membership)
        }
    }

    /// Ends the caller's membership and their pushes of the topic that wait; answers
    /// what it was, with push off.
    ///
    /// Also for topics that are gone.
    package func leave(_ topicID: TopicID, caller: Identity) async throws(ServiceError) -> Membership {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true) else { throw .unauthorized }
        let (time, visible) = (environment.time, try readableTopics(caller))
        let topics = topics
        return try await environment.store.writing { writer throws(StoreError) in
            let old = try writer.membership(of: caller.userID, in: topicID)
            if old == nil, try writer.records(topics, ids: [topicID.text], where: visible).isEmpty {
                return .failure(.unauthorized)
            }
            try writer.endMembership(of: caller.userID, in: topicID, now: time.now())
            try writer.setLeft(time.now(), caller.userID, topicID)
            let createdAt = old?.createdAt ?? time.now()
            return .success(Membership(topicID: topicID, userID: caller.userID, push: false, createdAt: createdAt))
        }
    }

    /// The caller's memberships.
    package func memberships(caller: Identity) async throws(ServiceError) -> [Membership] {
        guard AccessPolicy.mayManageOwnThings(caller, writing: false) else { throw .unauthorized }
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.memberships(of: caller.userID)
        }
    }

    /// The members of a topic by user, with their names, for who may change it; nil for everybody
    /// else.
    package func members(
        of topic: Record,
        after user: UserID?,
        limit: Int,
        caller: Identity
    ) async throws(ServiceError) -> (members: [Membership], hasMore: Bool)? {
        // Looking takes no more than reading, which a narrower token may.
        var owner = caller
        owner.scope = .full
        guard AccessPolicy.mayManageOwnThings(caller, writing: false),
            case .allow(let theirs) = AccessPolicy.decision(.update, on: topics, for: owner)
        else { return nil }
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            guard theirs.matches(topic, try reader.roles(askedBy: theirs, of: topic)) else { return nil }
            let found = try reader.members(of: TopicID(topic.id), after: user, limit: limit + 1)
            var members = Array(found.prefix(limit))
            let names = try reader.shownNames(of: members.map(\.userID))
            for index in members.indices { members[index].userName = names[members[index].userID] }
            return (members, found.count > limit)
        }
    }

    /// Ends somebody's membership of a topic that the caller may change, and their waiting pushes.
    ///
    /// Answers the membership as it was, with push off, or nil when there is none.
    package func remove(
        _ user: UserID,
        from topicID: TopicID,
        caller: Identity
    ) async throws(ServiceError) -> Membership? {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true),
            case .allow(let theirs) = AccessPolicy.decision(.update, on: topics, for: caller)
        else { throw .unauthorized }
        let (topics, time) = (topics, environment.time)
        return try await environment.store.writing { writer throws(StoreError) in
            let topic = try writer.records(topics, ids: [topicID.text], where: theirs).first
            guard let topic, !topic.isDeleted else { return .failure(.unauthorized) }
            guard var membership = try writer.membership(of: user, in: topicID) else { return .success(nil) }
            try writer.endMembership(of: user, in: topicID, now: time.now())
            try writer.setLeft(time.now(), user, topicID)
            membership.push = false
            return .success(membership)
        }
    }

    private func readableTopics(_ caller: Identity) throws(ServiceError) -> Predicate {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true),
            case .allow(let visible) = AccessPolicy.decision(.read, on: topics, for: caller)
        else { throw .unauthorized }
        return visible
    }
}

extension StoreWriter {
    /// Ends a membership with the pushes that wait, and those that are on their way.
    func endMembership(
        of user: UserID,
        in topic: TopicID,
        reason: DeliveryReason = .leftTopic,
        now: Timestamp
    ) throws(StoreError) {
        try removeMembership(of: user, in: topic, reason: reason)
        try settleDeliveries(to: user, of: topic, as: .ended, reason: reason, now: now)
    }
}
