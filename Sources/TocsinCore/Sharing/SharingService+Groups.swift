// What a change of a local group means for the topics that are shared with it.
extension SharingService {
    /// Grants of one group that a change of it looks at in its own write; what is beyond is judged
    /// at each push.
    static let maximumGrants = 5000
    /// Grants of a group that are looked at in one write of several.
    static let grantsAtOnce = 500

    /// A local group and at most so many of its grants with their topics, all held; nil where there
    /// is no such group.
    ///
    /// The name comes first, so that nobody grants it anything meanwhile; then the topics, then the
    /// group's row, as all writers lock them.
    func hold(
        _ reference: GroupReference,
        grants limit: Int = SharingService.maximumGrants,
        _ writer: any StoreWriter
    ) throws(StoreError) -> (group: Group, grants: [(grant: TopicGrant, topic: Record)])? {
        guard let seen = try writer.unlocked.group(reference) else { return nil }
        try writer.holdGroup(named: seen.name)
        let grants = try grants(ofGroup: seen.name, after: nil, limit, writer)
        guard let group = try writer.group(reference), group.name == seen.name else { return nil }
        return (group, grants)
    }

    private func grants(
        ofGroup name: String,
        after topic: TopicID?,
        _ limit: Int,
        _ writer: any StoreWriter
    ) throws(StoreError) -> [(grant: TopicGrant, topic: Record)] {
        let grants = try writer.unlocked.grants(of: .group(name), after: topic, limit: limit)
        let ids = Set(grants.map(\.topicID.text)).sorted()
        guard !ids.isEmpty else { return [] }
        var held: [TopicID: Record] = [:]
        for topic in try writer.records(topics, ids: ids, where: .always) { held[TopicID(topic.id)] = topic }
        // What was taken back before the topic was held is granted no more.
        return try writer.unlocked.grants(of: .group(name), after: topic, limit: limit).compactMap { grant in
            held[grant.topicID].map { (grant, $0) }
        }
    }

    /// Makes somebody who has just come into the group a member of the topics that push to it.
    func welcome(
        _ user: UserID,
        by grants: [(grant: TopicGrant, topic: Record)],
        _ writer: any StoreWriter
    ) throws(StoreError) {
        for (grant, topic) in grants where grant.push && !topic.isDeleted { try join(user, grant, writer) }
    }

    /// Ends the memberships of somebody who has just left the group, of topics that they may read
    /// no longer, and notes the end of reading for syncs.
    func dismiss(
        _ user: UserID,
        by grants: [(grant: TopicGrant, topic: Record)],
        at moment: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        let lost = LostMemberships(environment: environment, rights: rights)
        for (grant, topic) in grants where !grant.roles.isDisjoint(with: .reading) {
            try lost.end(of: user, in: topic, writer)
            try writer.noteEnd(of: .user(user), in: grant.topicID, at: moment)
        }
    }

    /// Does so for the grants of a group behind a topic, page by page, each in a write of its own.
    ///
    /// Where that is interrupted the topics left are told to no sync; nobody reads them all the
    /// same.
    func dismiss(
        _ user: UserID,
        fromGroup name: String,
        after topic: TopicID,
        leftAt: Timestamp
    ) async throws(ServiceError) {
        var last: TopicID? = topic
        while let after = last {
            last = try await environment.store.writing { writer throws(StoreError) in
                let limit = Self.grantsAtOnce
                let page = try writer.unlocked.grants(of: .group(name), after: after, limit: limit)
                // What the group was granted later was never theirs.
                let held = try grants(ofGroup: name, after: after, limit, writer).filter {
                    $0.grant.createdAt <= leftAt
                }
                try dismiss(user, by: held, at: environment.changeTime(), writer)
                return .success(page.count == limit ? page.last?.topicID : nil)
            }
        }
    }

    /// Takes back what was granted to a group that has just gone: another of its name has nothing.
    func revoke(
        _ grants: [(grant: TopicGrant, topic: Record)],
        at moment: Timestamp,
        by actor: AuditActor,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        for (grant, topic) in grants { try end(grant, of: topic, at: moment, by: actor, writer) }
    }
}

// The groups that a sign-in provider's tokens name have no list of members here.
extension SharingService {
    /// Makes somebody of whom a token has just said these facts a member of the topics that push to
    /// the groups it names.
    package func welcome(_ facts: UserFacts) async throws(ServiceError) {
        let groups = rights.claimedGroups.subjects(in: facts.claims).prefix(GrantSubject.maximumGroups)
        let subjects = groups.map(GrantSubject.group)
        guard topics.sharing != nil, !subjects.isEmpty else { return }
        let (user, limit) = (facts.userID, Self.grantsAtOnce)
        let found = try await environment.store.reading(for: .server) { reader throws(StoreError) in
            try reader.pushGrants(to: subjects, joining: user, limit: limit)
        }
        guard !found.isEmpty else { return }
        let service = self
        try await environment.store.writing { writer throws(StoreError) in
            let ids = Set(found.map(\.topicID.text)).sorted()
            let held = Set(
                try writer.records(service.topics, ids: ids, where: .always).filter { !$0.isDeleted }.map(\.id)
            )
            // What was taken back before the topic was held is granted no more.
            for grant in try writer.unlocked.pushGrants(to: subjects, joining: user, limit: limit)
            where held.contains(grant.topicID.text) { try service.join(user, grant, writer) }
            return .success(())
        }
    }
}

// What the audit says of grants.
extension SharingService {
    func audit(_ action: String, _ grant: TopicGrant, by actor: AuditActor) -> AuditEvent {
        var person: UserID?
        if case .user(let user) = grant.subject { person = user }
        return environment.audit(
            action: action,
            by: actor,
            on: .topic(grant.topicID),
            about: person,
            detail: [
                "grant": .text(grant.id.text), "subject": .text(grant.subject.text),
                "roles": .list(grant.roles.names), "push": .bool(grant.push),
                "expiresAt": grant.expiresAt.map { .text($0.iso8601) },
            ]
        )
    }
}
