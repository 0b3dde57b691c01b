/// Memberships of people who may read a topic no longer, because a grant has ended.
package struct LostMemberships: Sendable {
    private let environment: ServiceEnvironment
    private let rights: PushRights
    /// Members that are looked at in one write.
    private static let pageSize = 200

    /// Looks for those who lost a topic that `rights` knows.
    package init(environment: ServiceEnvironment, rights: PushRights) {
        (self.environment, self.rights) = (environment, rights)
    }

    /// Ends the memberships of all who may read the topic no longer, page by page, and their waiting
    /// pushes; until a page is done, its people are skipped by whoever sends.
    package func end(in topic: TopicID) async throws(ServiceError) {
        var last: UserID? = nil
        repeat {
            let after = last
            last = try await environment.store.writing { [self] writer throws(StoreError) in
                .success(try end(in: topic, after: after, writer))
            }
        } while last != nil && !Task.isCancelled
    }

    /// Ends somebody's membership if they may read the topic no longer.
    package func end(of user: UserID, in topic: Record, _ writer: any StoreWriter) throws(StoreError) {
        guard try writer.membership(of: user, in: TopicID(topic.id)) != nil else { return }
        try end(among: [user], in: topic, writer)
    }

    /// Looks at one page of members; answers its last one, nil when it was the last page.
    private func end(
        in topic: TopicID,
        after user: UserID?,
        _ writer: any StoreWriter
    ) throws(StoreError) -> UserID? {
        guard let record = try writer.records(rights.topics, ids: [topic.text], where: .always).first else { return nil }
        let members = try writer.members(of: topic, after: user, limit: Self.pageSize).map(\.userID)
        try end(among: members, in: record, writer)
        return members.count < Self.pageSize ? nil : members.last
    }

    private func end(among users: [UserID], in topic: Record, _ writer: any StoreWriter) throws(StoreError) {
        let (now, id) = (environment.time.now(), TopicID(topic.id))
        let standings = try writer.standings(of: Set(users), tokensAt: nil)
        let people = users.map { (user: $0, receiver: rights.receiver($0, standings[$0], now: now)) }
        // The rules alone show it for most.
        let doubtful = people.filter { !rights.mayBeMember($0.receiver, of: topic, GrantedRoles()) }
        guard !doubtful.isEmpty else { return }
        let subjects = doubtful.reduce(into: Set<GrantSubject>()) { subjects, person in
            if case .person(let identity) = person.receiver { subjects.formUnion(GrantSubject.of(identity)) }
        }
        let roles = try writer.roles(of: Array(subjects), in: [id])
        for person in doubtful where !rights.mayBeMember(person.receiver, of: topic, roles) {
            try writer.endMembership(of: person.user, in: id, reason: .accessEnded, now: now)
        }
    }
}
