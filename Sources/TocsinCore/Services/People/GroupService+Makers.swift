// People who are no administrators and may make groups: what they may do, and how much of it.
extension GroupService {
    /// Why a maker may not make a group of this name now; nil where they may.
    ///
    /// A name that is taken, kept, or named by a grant is refused in the same words, so that
    /// nothing is told of others' groups.
    func refusal(
        ofMaking name: String,
        by maker: UserID,
        _ writer: any StoreWriter
    ) throws(StoreError) -> ServiceError? {
        let kept = kept
        if let reason = kept.reasonForAll {
            return .conflicting("Only administrators make groups here, for \(reason). Ask one of them.")
        }
        // Nobody grants a group of this name anything meanwhile.
        try writer.holdGroup(named: name)
        let existing = try writer.group(named: name)
        if let existing, GroupReach.made(by: maker).covers(existing) {
            return .badInput("There is a group \(name) already.")
        }
        let isGranted = try !writer.unlocked.grants(of: .group(name), after: nil, limit: 1).isEmpty
        guard existing == nil, !isGranted, !kept.contains(name) else {
            return .badInput(
                "The name \(name) is taken, or kept for administrators. Choose another, or ask an administrator to make "
                    + "the group."
            )
        }
        // Held, so that groups of one maker are made one after the other.
        guard let account = try writer.account(maker), account.makesGroups else { return .unauthorized }
        let maximum = environment.limits.groupsPerMaker
        guard try writer.groupCount(madeBy: maker) < maximum else {
            return .limit(
                "You have made \(maximum) groups, as many as one may. Delete one, or ask an administrator to make the group."
            )
        }
        return nil
    }

    /// Why the group may not be changed by who reaches these; nil where it may.
    ///
    /// A group of somebody else is answered as one that is not there.
    func refusal(
        ofChanging group: Group,
        meantBy reference: GroupReference,
        _ reach: GroupReach,
        _ writer: any StoreWriter
    ) throws(StoreError) -> ServiceError? {
        guard reach.covers(group) else { return reference.unknown }
        guard let maker = reach.maker else { return nil }
        guard try writer.unlocked.account(maker)?.makesGroups == true else { return .unauthorized }
        let kept = kept
        guard kept.contains(group.name) else { return nil }
        let reason = kept.reasonForAll ?? "a rule of the model file or a setting names it"
        return .conflicting(
            "Only administrators change the group \(group.name) now, for \(reason). Ask one of them."
        )
    }

    /// Why a maker may not put somebody who is in these groups into one more; nil where they may.
    func refusal(
        ofAdding account: Account,
        whoIsIn groups: [Group],
        _ reach: GroupReach
    ) -> ServiceError? {
        let maximum = environment.limits.groupsPerMakerAndUser
        guard let maker = reach.maker, groups.count(where: GroupReach.made(by: maker).covers) >= maximum else {
            return nil
        }
        return .limit(
            "\(account.name) is in \(maximum) groups of yours, as many as may be. Take them out of one first, or ask an "
                + "administrator."
        )
    }

    /// Groups that a rule or setting names and whose makers are no administrators, with the makers,
    /// by name and at most `limit`.
    ///
    /// Groups of people who have no local account are left out: such people make groups only as
    /// administrators.
    package func keptGroupsOfMakers(limit: Int) async throws(ServiceError) -> [(group: Group, maker: Account)] {
        let names = kept.named
        return try await environment.store.reading(for: .server) { reader throws(StoreError) in
            var found: [(group: Group, maker: Account)] = []
            for name in names where found.count < limit {
                guard let group = try reader.group(named: name), let id = group.createdBy,
                    let maker = try reader.account(id), !maker.isAdmin
                else { continue }
                found.append((group, maker))
            }
            return found
        }
    }

    /// Counts that somebody who is no administrator names a user.
    func countNaming(by reach: GroupReach) throws(ServiceError) {
        if let maker = reach.maker, let refusal = sharing.refusalOfNaming(by: maker) { throw refusal }
    }
}

extension Account {
    /// Whether the right is still there: who came in with it a moment ago may have lost it since.
    fileprivate var makesGroups: Bool { isGroupMaker && !isDisabled }

    /// What the maker of a group sees of a member: who it is, and whether they can come in.
    func asMember(for reach: GroupReach) -> Account {
        guard let maker = reach.maker, !id.text.hasBytes(of: maker.text) else { return self }
        var shown = self
        (shown.isAdmin, shown.isGroupMaker, shown.lastSeenAt, shown.manager) = (false, false, nil, nil)
        return shown
    }
}
