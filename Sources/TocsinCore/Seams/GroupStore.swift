/// What a read may ask about local groups.
package protocol GroupReading {
    /// The group with this id, if there is one; a write keeps it from others until it ends.
    func group(_ id: GroupID) throws(StoreError) -> Group?
    /// The group with this name, if there is one; a write keeps it from others until it ends.
    func group(named name: String) throws(StoreError) -> Group?
    /// Groups after a name, by name, at most `limit`.
    func groups(after name: String, limit: Int) throws(StoreError) -> [Group]
    /// Groups that a user made after a name, by name, at most `limit`.
    func groups(madeBy user: UserID, after name: String, limit: Int) throws(StoreError) -> [Group]
    /// How many groups a user made.
    func groupCount(madeBy user: UserID) throws(StoreError) -> Int
    /// How many groups there are.
    func groupCount() throws(StoreError) -> Int
    /// The groups of each of these users who is in any, by name.
    func groups(of users: Set<UserID>) throws(StoreError) -> [UserID: [Group]]
    /// The members of a group after a user, by user, at most `limit`; disabled ones too.
    func members(of group: GroupID, after user: UserID?, limit: Int) throws(StoreError) -> [Account]
    /// The memberships of a user in local groups that began at a moment or later, and those that
    /// ended then.
    func groupSpans(of user: UserID, since moment: Timestamp) throws(StoreError) -> [GroupSpan]
    /// How many members a group has.
    func memberCount(of group: GroupID) throws(StoreError) -> Int
}

/// How local groups are written.
package protocol GroupWriting {
    /// Keeps others from changing this group's members, or what it was granted, until the write
    /// ends; to be asked before any topic is held.
    func holdGroup(named name: String) throws(StoreError)
    /// Inserts the group or replaces the one with its id.
    func save(_ group: Group) throws(StoreError)
    /// Removes the group with its memberships, which end at this moment; service accounts that it
    /// managed are managed by admins alone then.
    func remove(_ group: Group, at moment: Timestamp) throws(StoreError)
    /// Makes a user a member; false where they are one already.
    func add(_ user: UserID, to group: GroupID, at moment: Timestamp) throws(StoreError) -> Bool
    /// Ends a user's membership; false where there is none.
    func remove(_ user: UserID, from group: Group, at moment: Timestamp) throws(StoreError) -> Bool
    /// Forgets at most so many memberships that ended before a moment; answers how many.
    func removeLeftGroups(before moment: Timestamp, limit: Int) throws(StoreError) -> Int
    /// Notes that the rights of a user have changed; answers since when, which is later than the
    /// time before, or nil where there is no such user.
    func changeRights(of user: UserID, at moment: Timestamp) throws(StoreError) -> Timestamp?
    /// The same of all members of a group.
    func changeRights(ofMembersOf group: GroupID, at moment: Timestamp) throws(StoreError) -> [UserID: Timestamp]
}
