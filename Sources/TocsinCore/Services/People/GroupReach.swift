/// Which local groups somebody manages.
enum GroupReach: Sendable, Hashable {
    case all
    /// Those that the user made: they may make groups, and are no administrator.
    case made(by: UserID)

    /// Whether a group is among them, whatever it is called.
    func covers(_ group: Group) -> Bool {
        switch self {
        case .all: true
        // By bytes, as the database compares them.
        case .made(let maker): group.createdBy?.text.hasBytes(of: maker.text) ?? false
        }
    }

    /// Who made the groups; nil where it is about all.
    var maker: UserID? {
        switch self {
        case .all: nil
        case .made(let maker): maker
        }
    }
}

extension Authority {
    /// The groups that may be managed, or looked at; nil for who manages none.
    func groupReach(writing: Bool) -> GroupReach? {
        if isAdmin(writing: writing) { return .all }
        guard case .caller(let caller) = self, caller.isGroupMaker,
            AccessPolicy.mayManageOwnThings(caller, writing: writing)
        else { return nil }
        return .made(by: caller.userID)
    }

    /// The same; throws `unauthorized` for who manages none.
    func requireGroups(writing: Bool = true) throws(ServiceError) -> GroupReach {
        guard let reach = groupReach(writing: writing) else { throw .unauthorized }
        return reach
    }
}
