/// People's ties to topics: whose devices get a topic's pushes.
package struct MembershipService: Sendable {
    private let environment: ServiceEnvironment
    private let topics: ModelType

    package init(environment: ServiceEnvironment, topics: ModelType) {
        self.environment = environment
        self.topics = topics
    }

    /// Makes the caller a member of a topic that they may read; without push, deliveries to their devices are skipped, those
    /// that wait already too.
    package func join(
        _ topicID: TopicID,
        push: Bool = true,
        caller: Identity
    ) async throws(ServiceError) -> Membership {
        let visible = try readableTopics(caller)
        let (topics, time) = (topics, environment.time)
        return try await environment.store.writing { writer throws(StoreError) in
            let topic = try writer.records(topics, ids: [topicID.text], where: visible).first
            guard let topic, !topic.isDeleted else { return .failure(.unauthorized) }
            let old = try writer.membership(of: caller.userID, in: topicID)
            let membership = Membership(
                topicID: topicID,
                userID: caller.userID,
                push: push,
                createdAt: old?.createdAt ?? environment.changeTime()
            )
            try writer.save(membership)
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

    /// Ends the caller's membership and their pushes of the topic that wait; answers what it was, with push off.
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
            try writer.removeMembership(of: caller.userID, in: topicID)
            try writer.settleDeliveries(
                to: caller.userID,
                of: topicID,
                as: .ended,
                reason: .leftTopic,
                now: time.now()
            )
            let createdAt = old?.createdAt ?? time.now()
            return .success(Membership(topicID: topicID, userID: caller.userID, push: false, createdAt: createdAt))
        }
    }

    /// The caller's memberships.
    package func memberships(caller: Identity) async throws(ServiceError) -> [Membership] {
        guard AccessPolicy.mayManageOwnThings(caller, writing: false) else { throw .unauthorized }
        return try await environment.store.reading { reader throws(StoreError) in
            try reader.memberships(of: caller.userID)
        }
    }

    private func readableTopics(_ caller: Identity) throws(ServiceError) -> Predicate {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true),
            case .allow(let visible) = AccessPolicy.decision(.read, on: topics, for: caller)
        else { throw .unauthorized }
        return visible
    }
}
