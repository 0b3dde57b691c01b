/// Memberships of people who may read a topic no longer, because a grant has ended.
struct LostMemberships: Sendable {
    private let environment: ServiceEnvironment
    private let rights: PushRights
    /// Members that are looked at together.
    static let pageSize = 200

    init(environment: ServiceEnvironment, rights: PushRights) {
        (self.environment, self.rights) = (environment, rights)
    }

    /// Ends the memberships of all who may read the topic no longer, with their waiting pushes, a
    /// page in each write; until its turn comes, a page's people are skipped by whoever sends.
    func end(in topic: TopicID) async throws(ServiceError) {
        var last: UserID?
        repeat {
            let after = last
            last = try await environment.store.writing { [self] writer throws(StoreError) in
                let topic = try writer.records(rights.topics, ids: [topic.text], where: .always).first
                guard let topic else { return .success(nil) }
                return .success(try end(in: topic, after: after, writer))
            }
        } while last != nil && !Task.isCancelled
    }

    /// Ends somebody's membership of a topic of which they have lost a grant by name, if they may
    /// read it no longer.
    func end(of user: UserID, in topic: Record, _ writer: any StoreWriter) throws(StoreError) {
        guard try writer.membership(of: user, in: TopicID(topic.id)) != nil else { return }
        try end(among: [user], in: topic, keepsUnknown: false, writer)
    }

    /// Looks at one page of members; answers its last one, nil when it was the last page.
    func end(in topic: Record, after user: UserID?, _ writer: any StoreWriter) throws(StoreError) -> UserID? {
        let members = try writer.members(of: TopicID(topic.id), after: user, limit: Self.pageSize).map(\.userID)
        try end(among: members, in: topic, keepsUnknown: true, writer)
        return members.count < Self.pageSize ? nil : members.last
    }

    private func end(
        among users: [UserID],
        in topic: Record,
        keepsUnknown: Bool,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        let (now, id) = (environment.time.now(), TopicID(topic.id))
        let standings = try writer.standings(of: Set(users), tokensAt: nil)
        // Whoever gets no pushes for another reason counts as not known: no group of theirs is.
        let people = users.map { user in
            guard case .person(let person) = rights.receiver(user, standings[user], now: now) else {
                return (person: Identity(userID: user, username: ""), isKnown: false)
            }
            return (person: person, isKnown: true)
        }
        // The rules alone show it for most.
        let doubtful = people.filter { person, isKnown in
            guard isKnown else { return !keepsUnknown && !topic.isOwned(by: person.userID) }
            return !rights.mayRead(person, topic, GrantedRoles())
        }
        guard !doubtful.isEmpty else { return }
        let subjects = doubtful.reduce(into: Set<GrantSubject>()) { $0.formUnion(GrantSubject.of($1.person)) }
        let roles = try writer.roles(of: Array(subjects), in: [id])
        for (person, _) in doubtful {
            let held = roles.roles(of: GrantSubject.of(person), in: id)
            guard !rights.mayRead(person, topic, roles), held.isDisjoint(with: .reading) else { continue }
            try writer.endMembership(of: person.userID, in: id, reason: .accessEnded, now: now)
        }
    }
}

extension Record {
    /// Whether the stored owner begins with this user's id: of somebody whose name is not known.
    fileprivate func isOwned(by user: UserID) -> Bool { owner?.utf8.starts(with: (user.text + "::").utf8) ?? false }
}
