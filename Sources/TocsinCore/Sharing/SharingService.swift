/// Shares topics: gives roles to users, groups and everybody, and takes them back.
///
/// Whatever the caller may not share is refused as a topic that is not there.
package struct SharingService: Sendable {
    let environment: ServiceEnvironment
    let rights: PushRights
    var topics: ModelType { rights.topics }
    /// Nobody finds out who there is by trying names.
    private let lookUps = MinuteRate(30)

    /// A service for the topics that `rights` knows.
    package init(environment: ServiceEnvironment, rights: PushRights) {
        (self.environment, self.rights) = (environment, rights)
    }

    /// Gives a subject roles in a topic; the same subject again gets these roles in place of its
    /// old ones.
    package func grant(_ order: GrantOrder, caller: Identity) async throws(ServiceError) -> TopicGrant {
        let shareable = try shareable(by: caller)
        try order.check(now: environment.time.now())
        if order.roles.contains(.owner) { try await environment.requireElevation(of: caller) }
        if case .user = order.receiver, let refusal = refusalOfNaming(by: caller.userID) { throw refusal }
        let (service, id) = (self, GrantID(environment.identifiers.makeID()))
        return try await environment.writing(within: .grants) { writer throws(StoreError) in
            if case .group(let name) = order.receiver { try writer.holdGroup(named: name) }
            guard let topic = try writer.records(service.topics, ids: [order.topicID.text], where: shareable).first,
                !topic.isDeleted
            else { return .failure(.unauthorized) }
            return try service.grant(order, id, of: topic, shareable, caller, writer)
        }
    }

    /// Counts that somebody names a user; answers why they may not now.
    func refusalOfNaming(by caller: UserID) -> ServiceError? {
        guard !lookUps.take(caller.text, now: environment.time.now()) else { return nil }
        return .limit(
            "You may name \(lookUps.maximumCount) users a minute. Wait a minute; a topic can be shared with a group at once."
        )
    }

    private func grant(
        _ order: GrantOrder,
        _ id: GrantID,
        of topic: Record,
        _ shareable: Predicate,
        _ caller: Identity,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Result<TopicGrant, ServiceError> {
        guard !DirectPushService.isTopic(topic.id) else {
            return .failure(.badInput("A topic of direct pushes cannot be shared; share a topic of your own."))
        }
        let subject: GrantSubject
        switch try self.subject(order.receiver, of: topic, writer) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let found): subject = found
        }
        let old = try writer.grant(of: subject, in: order.topicID)
        let isOwner = shareable.matches(topic)
        guard isOwner || !order.roles.union(old?.roles ?? []).contains(.owner) else {
            return .failure(.unauthorized)
        }
        if old == nil, try writer.grantCount(of: order.topicID) >= environment.limits.grantsPerTopic {
            let maximum = environment.limits.grantsPerTopic
            return .failure(.limit("A topic may have at most \(maximum) grants; revoke one, or share with a group."))
        }
        let now = environment.changeTime()
        var grant = TopicGrant(
            id: old?.id ?? id,
            topicID: order.topicID,
            subject: subject,
            roles: order.roles,
            createdAt: old?.createdAt ?? now,
            createdBy: old?.createdBy ?? caller.userID
        )
        (grant.push, grant.expiresAt, grant.changedAt) = (order.push, order.expiresAt, now)
        try writer.save(grant, replacing: old)
        if grant.push { try join(grant, writer) }
        if let old, old.roles.subtracting(grant.roles).isDisjoint(with: .reading) == false {
            try endMemberships(of: topic, after: grant, writer)
        }
        writer.note(.grantsChanged(GrantChange(grant, owner: topic.owner ?? "")))
        try writer.record(audit("grant.create", grant, by: .caller(caller)))
        return .success(try named([grant], writer.unlocked)[0])
    }

    /// Takes a grant back.
    package func revoke(_ id: GrantID, caller: Identity) async throws(ServiceError) -> TopicGrant {
        let shareable = try shareable(by: caller)
        let service = self
        return try await environment.store.writing { writer throws(StoreError) in
            // The topic's row before the grant's, as all writers lock them.
            guard let seen = try writer.unlocked.grant(id),
                let topic = try writer.records(service.topics, ids: [seen.topicID.text], where: shareable).first,
                !topic.isDeleted, let grant = try writer.grant(id), grant.topicID == seen.topicID,
                shareable.matches(topic) || !grant.roles.contains(.owner)
            else { return .failure(.unauthorized) }
            try service.end(grant, of: topic, at: service.environment.changeTime(), by: .caller(caller), writer)
            return .success(grant)
        }
    }

    /// Gives up what was granted to the caller by name, and their membership; answers the
    /// membership that was, with push off.
    ///
    /// What they have as members of groups stays.
    package func leave(_ topicID: TopicID, caller: Identity) async throws(ServiceError) -> Membership? {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true) else { throw .unauthorized }
        guard case .allow(let visible) = AccessPolicy.decision(.get, on: topics, for: caller) else {
            throw .unauthorized
        }
        let service = self
        return try await environment.store.writing { writer throws(StoreError) in
            let topic = try writer.records(service.topics, ids: [topicID.text], where: .always).first
            let grant = try writer.grant(of: .user(caller.userID), in: topicID)
            let old = try writer.membership(of: caller.userID, in: topicID)
            if grant == nil, old == nil {
                guard try !writer.records(service.topics, ids: [topicID.text], where: visible).isEmpty else {
                    return .failure(.unauthorized)
                }
            }
            let now = service.environment.changeTime()
            if let grant, topic != nil {
                try writer.remove(grant, at: now)
                writer.note(.grantsChanged(GrantChange(ending: grant.subject, in: topicID)))
                try writer.record(service.audit("grant.leave", grant, by: .caller(caller)))
            }
            try writer.setLeft(now, caller.userID, topicID)
            guard var membership = old else { return .success(nil) }
            try writer.endMembership(of: caller.userID, in: topicID, now: now)
            membership.push = false
            return .success(membership)
        }
    }

    func end(
        _ grant: TopicGrant,
        of topic: Record,
        at moment: Timestamp,
        by actor: AuditActor,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        try writer.remove(grant, at: moment)
        try endMemberships(of: topic, after: grant, writer)
        writer.note(.grantsChanged(GrantChange(ending: grant.subject, in: grant.topicID)))
        try writer.record(audit("grant.revoke", grant, by: actor))
    }

    /// The topics that the caller may share: their own, and those where they have the role OWNER.
    private func shareable(by caller: Identity) throws(ServiceError) -> Predicate {
        guard AccessPolicy.mayManageOwnThings(caller, writing: true),
            case .allow(let shareable) = AccessPolicy.decision(.update, on: topics, for: caller)
        else { throw .unauthorized }
        guard topics.sharing != nil else {
            throw .badInput(
                "Topics cannot be shared here: TOCSIN_SHARING is off, or the schema has no rule for owners of topics."
            )
        }
        return shareable
    }
}

extension SharingService {
    /// The subject that a client names.
    private func subject(
        _ receiver: GrantOrder.Receiver,
        of topic: Record,
        _ reader: any StoreReader
    ) throws(StoreError) -> Result<GrantSubject, ServiceError> {
        switch receiver {
        case .everybody: return .success(.signedIn)
        case .group(let name): return .success(.group(name))
        case .user(let text):
            let found = try user(text, reader)
            guard case .success(let user) = found else { return found.map { .user($0) } }
            if let owner = topic.owner, let person = try person(user, reader), person.ownerForms.contains(owner) {
                return .failure(.badInput("\(text.prefix(64)) owns the topic and needs no grant."))
            }
            return .success(.user(user))
        }
    }

    /// A local user by name or id, else somebody of a sign-in provider by id or name.
    private func user(_ text: String, _ reader: any StoreReader) throws(StoreError) -> Result<UserID, ServiceError> {
        if let account = try reader.account(named: text) { return .success(account.id) }
        if let account = try reader.account(UserID(text)) { return .success(account.id) }
        let id = UserID(text)
        if try reader.standings(of: [id], tokensAt: nil)[id] != nil { return .success(id) }
        let named = try reader.users(named: text, limit: 2)
        if named.count > 1 {
            return .failure(.badInput("Several users are named \(text.prefix(64)); give the user's id."))
        }
        guard let user = named.first else {
            return .failure(
                .badInput(
                    "There is no user \(text.prefix(64)). Check the name; people of a sign-in provider are known once they "
                        + "have registered a device, joined a topic, or made an integration, a monitor or a schedule."
                )
            )
        }
        return .success(user)
    }

    /// Who a user is now, as far as that is known.
    private func person(_ user: UserID, _ reader: any StoreReader) throws(StoreError) -> Identity? {
        let standing = try reader.standings(of: [user], tokensAt: nil)[user]
        let receiver = PushRights(
            topics: topics,
            messages: rights.messages,
            claimedGroups: rights.claimedGroups
        )
        .receiver(user, standing, now: environment.time.now())
        return if case .person(let identity) = receiver { identity } else { nil }
    }
}

extension SharingService {
    private static let membersAtOnce = 500
    /// Members of a topic that are looked through when a grant ends; more are judged at each push.
    private static let maximumMembers = 5000

    /// Makes the subject's people members who are none, and have not left since the grant was made.
    private func join(_ grant: TopicGrant, _ writer: any StoreWriter) throws(StoreError) {
        switch grant.subject {
        case .signedIn: return
        case .user(let user): try join(user, grant, writer)
        case .group(let name):
            var last: UserID?
            repeat {
                let users = try writer.members(ofGroup: name, after: last, limit: Self.membersAtOnce)
                for user in users { try join(user, grant, writer) }
                last = users.count == Self.membersAtOnce ? users.last : nil
            } while last != nil
        }
    }

    func join(_ user: UserID, _ grant: TopicGrant, _ writer: any StoreWriter) throws(StoreError) {
        guard try writer.membership(of: user, in: grant.topicID) == nil,
            try !writer.hasLeft(user, grant.topicID, since: grant.createdAt)
        else { return }
        let now = environment.changeTime()
        try writer.save(Membership(topicID: grant.topicID, userID: user, push: true, createdAt: now))
    }

    /// Ends the memberships of those who may read the topic no more, with the pushes that wait.
    private func endMemberships(
        of topic: Record,
        after grant: TopicGrant,
        _ writer: any StoreWriter
    ) throws(StoreError) {
        let lost = LostMemberships(environment: environment, rights: rights)
        if case .user(let user) = grant.subject { return try lost.end(of: user, in: topic, writer) }
        var (last, count): (UserID?, Int) = (nil, 0)
        repeat {
            last = try lost.end(in: topic, after: last, writer)
            count += LostMemberships.pageSize
        } while last != nil && count < Self.maximumMembers
    }
}

extension SharingService {
    /// The roles that the caller has in these topics: OWNER in their own.
    package func roles(
        in records: [Record],
        caller: Identity
    ) async throws(ServiceError) -> [TopicID: TopicRole] {
        var roles: [TopicID: TopicRole] = [:]
        guard case .allow(let shareable) = AccessPolicy.decision(.update, on: topics, for: caller.looking) else {
            return roles
        }
        var others: [TopicID] = []
        for record in records {
            if shareable.matches(record) {
                roles[TopicID(record.id)] = .owner
            } else {
                others.append(TopicID(record.id))
            }
        }
        guard let subjects = shareable.grantQuestions.first?.subjects, !others.isEmpty else { return roles }
        let asked = others
        let granted = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.roles(of: subjects, in: asked)
        }
        for topic in others { roles[topic] = granted.roles(of: subjects, in: topic) }
        return roles
    }

    /// The topics among these whose messages the caller may read.
    package func readable(_ records: [Record], caller: Identity) async throws(ServiceError) -> Set<TopicID> {
        guard case .allow(let readable) = AccessPolicy.decision(.read, on: topics, for: caller) else { return [] }
        let others = records.filter { !readable.matches($0) }
        var found = Set(records.filter { readable.matches($0) }.map { TopicID($0.id) })
        guard let question = readable.grantQuestions.first, !others.isEmpty else { return found }
        let granted = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.roles(of: question.subjects, in: others.map { TopicID($0.id) })
        }
        for record in others where readable.matches(record, granted) { found.insert(TopicID(record.id)) }
        return found
    }

    /// The grants of a topic by id, for who may share it; nil for everybody else.
    package func grants(
        of topic: Record,
        after id: String,
        limit: Int,
        caller: Identity
    ) async throws(ServiceError) -> (grants: [TopicGrant], hasMore: Bool)? {
        guard AccessPolicy.mayManageOwnThings(caller, writing: false), topics.sharing != nil,
            case .allow(let shareable) = AccessPolicy.decision(.update, on: topics, for: caller.looking)
        else { return nil }
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            guard shareable.matches(topic, try reader.roles(askedBy: shareable, of: topic)) else { return nil }
            let found = try reader.grants(of: TopicID(topic.id), after: id, limit: limit + 1)
            return (try named(Array(found.prefix(limit)), reader), found.count > limit)
        }
    }
}

extension SharingService {
    /// The grants with the names of their users, as far as these are known.
    private func named(_ grants: [TopicGrant], _ reader: any StoreReader) throws(StoreError) -> [TopicGrant] {
        let users = grants.compactMap { if case .user(let user) = $0.subject { user } else { nil } }
        let names = try reader.shownNames(of: users)
        return grants.map { grant in
            var grant = grant
            if case .user(let user) = grant.subject { grant.userName = names[user] }
            return grant
        }
    }
}

extension StoreReader {
    /// The names of those users of whom one is known, for who may see who they are: a local
    /// account's, else what their sign-in provider last said.
    func shownNames(of users: [UserID]) throws(StoreError) -> [UserID: String] {
        guard !users.isEmpty else { return [:] }
        return try standings(of: Set(users), tokensAt: nil).compactMapValues { $0.account?.name ?? $0.facts?.username }
    }
}

extension Identity {
    /// The same person, of whom a token's scope is forgotten: looking takes no more than reading,
    /// which a narrower token may.
    fileprivate var looking: Identity {
        var person = self
        person.scope = .full
        return person
    }
}
