/// Local groups and their members, for admins and for commands on the data directory.
///
/// Who may make groups manages those they made. Others are answered as if nothing were there.
package struct GroupService: Sendable {
    let environment: ServiceEnvironment
    let sharing: SharingService
    private let models: [ModelType]

    /// A service over the store of `environment`; `sharing` follows what groups have been granted,
    /// and rules of `models` keep names for admins.
    package init(environment: ServiceEnvironment, sharing: SharingService, models: [ModelType]) {
        (self.environment, self.sharing, self.models) = (environment, sharing, models)
    }

    /// The names that are admins' alone, by the settings in force.
    var kept: KeptGroups {
        KeptGroups(models: models, settings: environment.settingsGroups.value, environment.claimedGroups)
    }

    /// Makes a group without members.
    package func add(
        name: String,
        description: String?,
        by authority: Authority
    ) async throws(ServiceError) -> Group {
        let reach = try authority.requireGroups()
        if let problem = Group.problem(inName: name) { throw .badInput(problem) }
        guard description?.utf8.count ?? 0 <= Group.maximumDescriptionBytes else {
            throw .badInput("description has at most \(Group.maximumDescriptionBytes) bytes.")
        }
        let (service, environment) = (self, environment)
        return try await environment.writing(within: .groups) { writer throws(StoreError) in
            if let maker = reach.maker, let refusal = try service.refusal(ofMaking: name, by: maker, writer) {
                return .failure(refusal)
            }
            guard try writer.group(named: name) == nil else {
                return .failure(.badInput("There is a group \(name) already."))
            }
            guard try writer.groupCount() < environment.limits.groups else {
                return .failure(.limit("There are \(environment.limits.groups) groups, as many as there may be."))
            }
            let group = Group(
                id: GroupID(environment.identifiers.makeID()),
                name: name,
                description: description,
                createdBy: authority.userID,
                createdAt: environment.time.now()
            )
            try writer.save(group)
            try writer.record(environment.audit("group.create", group, by: authority))
            return .success(group)
        }
    }

    /// Removes a group; its members lose at once what it gave them.
    ///
    /// Where it has very many grants, these go page by page before it, each page in a write of its
    /// own; whoever is interrupted removes the group again.
    package func remove(_ group: GroupReference, by authority: Authority) async throws(ServiceError) -> Group {
        let (service, reach) = (self, try authority.requireGroups())
        while true {
            let removed = try await environment.store.writing { writer throws(StoreError) in
                try service.removePage(of: group, reach, by: authority, writer)
            }
            if let removed { return removed }
        }
    }

    /// Takes back a page of what the group was granted, and with the last one removes the group;
    /// nil where there is more.
    private func removePage(
        of reference: GroupReference,
        _ reach: GroupReach,
        by authority: Authority,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Result<Group?, ServiceError> {
        guard let (group, grants) = try sharing.hold(reference, grants: SharingService.grantsAtOnce, writer) else {
            return .failure(reference.unknown)
        }
        if let refusal = try refusal(ofChanging: group, meantBy: reference, reach, writer) { return .failure(refusal) }
        let all = try writer.unlocked.grants(of: .group(group.name), after: nil, limit: grants.count + 1)
        let (isLast, now) = (all.count <= grants.count, environment.changeTime())
        if isLast {
            let members = try writer.changeRights(ofMembersOf: group.id, at: now)
            writer.note(members.sorted { $0.key < $1.key }.map { .rightsChanged($0.key, at: $0.value) })
            try writer.remove(group, at: now)
        }
        try sharing.revoke(grants, at: now, by: authority.actor, writer)
        guard isLast else { return .success(nil) }
        try writer.record(environment.audit("group.delete", group, by: authority))
        return .success(group)
    }

    /// Makes a local user a member, who has from now on what the group gives.
    package func add(
        _ user: UserReference,
        to reference: GroupReference,
        by authority: Authority
    ) async throws(ServiceError) -> (group: Group, isNew: Bool) {
        let reach = try authority.requireGroups()
        // A group may manage service accounts, whose tokens its members make.
        try await authority.requireElevation(environment)
        try countNaming(by: reach)
        let (service, environment, sharing) = (self, environment, sharing)
        return try await environment.writing(within: .members) { writer throws(StoreError) in
            guard let (group, grants) = try sharing.hold(reference, writer) else { return .failure(reference.unknown) }
            if let refusal = try service.refusal(ofChanging: group, meantBy: reference, reach, writer) {
                return .failure(refusal)
            }
            guard let account = try writer.account(user) else { return .failure(Self.noLocalUser(user)) }
            let theirs = try writer.groups(of: [account.id])[account.id] ?? []
            if theirs.contains(where: { $0.id == group.id }) { return .success((group, false)) }
            if let refusal = service.refusal(ofAdding: account, whoIsIn: theirs, reach) { return .failure(refusal) }
            let limits = environment.limits
            guard theirs.count < limits.groupsPerUser else {
                return .failure(.limit("\(account.name) is in \(theirs.count) groups, as many as one may be in."))
            }
            guard try writer.memberCount(of: group.id) < limits.groupMembers else {
                return .failure(
                    .limit("\(group.name) has \(limits.groupMembers) members, as many as a group may have.")
                )
            }
            _ = try writer.add(account.id, to: group.id, at: environment.changeTime())
            try sharing.welcome(account.id, by: grants, writer)
            try writer.changeRights(of: [account.id], at: environment.changeTime())
            try writer.record(environment.audit("group.add", group, by: authority, member: account))
            return .success((group, true))
        }
    }

    /// Ends a membership, and at once what the group gave.
    ///
    /// Of very many topics syncs are told behind that.
    package func remove(
        _ user: UserReference,
        from reference: GroupReference,
        by authority: Authority
    ) async throws(ServiceError) -> (group: Group, wasMember: Bool) {
        let reach = try authority.requireGroups()
        try countNaming(by: reach)
        let (service, environment, sharing) = (self, environment, sharing)
        let left = try await environment.store.writing { writer throws(StoreError) -> Result<Leaving, ServiceError> in
            guard let (group, grants) = try sharing.hold(reference, writer) else { return .failure(reference.unknown) }
            if let refusal = try service.refusal(ofChanging: group, meantBy: reference, reach, writer) {
                return .failure(refusal)
            }
            guard let account = try writer.account(user) else { return .failure(Self.noLocalUser(user)) }
            let now = environment.changeTime()
            var leaving = Leaving(group: group, user: account.id, at: now)
            guard try writer.remove(account.id, from: group, at: now) else { return .success(leaving) }
            leaving.wasMember = true
            leaving.last = grants.count == SharingService.maximumGrants ? grants.last?.grant.topicID : nil
            try sharing.dismiss(account.id, by: grants, at: now, writer)
            try writer.changeRights(of: [account.id], at: environment.changeTime())
            try writer.record(environment.audit("group.remove", group, by: authority, member: account))
            return .success(leaving)
        }
        if let last = left.last {
            try await sharing.dismiss(left.user, fromGroup: left.group.name, after: last, leftAt: left.at)
        }
        return (left.group, left.wasMember)
    }

    /// The end of a membership, and how far syncs are told of it.
    private struct Leaving: Sendable {
        var group: Group
        var user: UserID
        var at: Timestamp
        var wasMember = false
        /// The last topic of which they are told; nil: of all.
        var last: TopicID?
    }

    /// Groups after a name, by name; for makers those they made.
    package func groups(
        after name: String = "",
        limit: Int,
        by authority: Authority
    ) async throws(ServiceError) -> (groups: [Group], hasMore: Bool) {
        let reach = try authority.requireGroups(writing: false)
        let found = try await environment.store.reading(for: authority.reads) { reader throws(StoreError) in
            guard let maker = reach.maker else { return try reader.groups(after: name, limit: limit + 1) }
            return try reader.groups(madeBy: maker, after: name, limit: limit + 1)
        }
        return (Array(found.prefix(limit)), found.count > limit)
    }

    /// The group that is meant; nil where there is none, and for who does not manage it.
    package func group(_ group: GroupReference, by authority: Authority) async throws(ServiceError) -> Group? {
        guard let reach = authority.groupReach(writing: false) else { return nil }
        let found = try await environment.store.reading(for: authority.reads) { reader throws(StoreError) in
            try reader.group(group)
        }
        return found.flatMap { reach.covers($0) ? $0 : nil }
    }

    /// The members of a group after a user, by id; disabled ones too.
    package func members(
        of group: GroupID,
        after user: UserID?,
        limit: Int,
        by authority: Authority
    ) async throws(ServiceError) -> (accounts: [Account], hasMore: Bool) {
        let reach = try authority.requireGroups(writing: false)
        let found = try await environment.store.reading(for: authority.reads) {
            reader throws(StoreError) -> [Account] in
            // Of a group that was just removed there are none.
            guard let group = try reader.group(group), reach.covers(group) else { return [] }
            return try reader.members(of: group.id, after: user, limit: limit + 1)
        }
        return (found.prefix(limit).map { $0.asMember(for: reach) }, found.count > limit)
    }

    /// The names of the groups of users, who must have been read for the same caller; makers see of
    /// others' groups those they made.
    package func names(
        ofGroupsOf users: [Account],
        by authority: Authority
    ) async throws(ServiceError) -> [UserID: [String]] {
        let found = try await environment.store.reading(for: authority.reads) { reader throws(StoreError) in
            try reader.groups(of: Set(users.map(\.id)))
        }
        let ownAlone = authority.isAdmin(writing: false) ? [] : users.filter { !authority.mayRead($0) }.map(\.id)
        guard !ownAlone.isEmpty else { return found.mapValues { $0.map(\.name) } }
        let reach = authority.groupReach(writing: false)
        var names = found.mapValues { $0.map(\.name) }
        for user in ownAlone {
            names[user] = found[user]?.filter { reach?.covers($0) ?? false }.map(\.name)
        }
        return names
    }

    private static func noLocalUser(_ user: UserReference) -> ServiceError {
        .badInput(
            "There is no local user \(user.text.prefix(64)). Groups of a sign-in provider's people come with their tokens."
        )
    }
}

/// A local group as somebody named it: by id, or by name.
package struct GroupReference: Sendable, Hashable {
    /// An id or a name.
    package let text: String
    /// Whether only an id is meant.
    package let isID: Bool

    /// The group of this name.
    package init(name: String) { (text, isID) = (name, false) }

    /// The group of this id.
    package init(id: String) { (text, isID) = (id, true) }

    /// What is said where there is none.
    package var unknown: ServiceError {
        .badInput("There is no group \(text.prefix(64)). `groups` or `tocsin group list` shows all.")
    }
}

extension GroupReading {
    /// The group that is meant, if there is one.
    func group(_ group: GroupReference) throws(StoreError) -> Group? {
        try group.isID ? self.group(GroupID(group.text)) : self.group(named: group.text)
    }
}
