import TocsinCore

private enum SQL {
    private static let columns = "id, name, description, created_by, created_at"
    static let groups = "SELECT \(columns) FROM groups"
    static let one = groups + " WHERE id = $1"
    static let named = groups + " WHERE name = $1"
    static let page = groups + " WHERE name > $1 ORDER BY name LIMIT $2"
    static let pageOfMaker = groups + " WHERE created_by = $1 AND name > $2 ORDER BY name LIMIT $3"
    static let count = "SELECT count(*) FROM groups"
    static let countOfMaker = count + " WHERE created_by = $1"
    static func ofUsers(_ users: BoundList) -> String {
        """
        SELECT g.id, g.name, g.description, g.created_by, g.created_at, m.user_id
        FROM group_members AS m JOIN groups AS g ON g.id = m.group_id
        WHERE m.user_id IN (\(users.placeholders)) ORDER BY g.name
        """
    }
    static let members = """
        SELECT \(Account.columns("u")) FROM group_members AS m JOIN users AS u ON u.id = m.user_id
        WHERE m.group_id = $1 AND m.user_id > $2 ORDER BY m.user_id LIMIT $3
        """
    static let memberCount = "SELECT count(*) FROM group_members WHERE group_id = $1"
    static let save = """
        INSERT INTO groups (\(columns)) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description
        """
    static let spans = """
        SELECT g.name, m.added_at, CAST(NULL AS BIGINT) FROM group_members AS m JOIN groups AS g ON g.id = m.group_id
        WHERE m.user_id = $1 AND m.added_at >= $2
        UNION ALL SELECT group_name, joined_at, left_at FROM left_groups WHERE user_id = $1 AND left_at >= $2
        """
    private static let note = """
        INSERT INTO left_groups (user_id, group_name, joined_at, left_at)
        SELECT m.user_id, $2, m.added_at, $3 FROM group_members AS m
        """
    private static let once = "ON CONFLICT (user_id, left_at, group_name) DO NOTHING"
    static let noteAllLeft = "\(note) WHERE m.group_id = $1 \(once)"
    static let noteLeft = "\(note) WHERE m.group_id = $1 AND m.user_id = $4 \(once)"
    static let oldLeft = """
        SELECT user_id, left_at, group_name FROM left_groups WHERE left_at < $1 ORDER BY left_at LIMIT $2
        """
    static let forgetLeft = "DELETE FROM left_groups WHERE user_id = $1 AND left_at = $2 AND group_name = $3"
    static let removals = [
        "DELETE FROM group_members WHERE group_id = $1", "DELETE FROM groups WHERE id = $1",
    ]
    static let freeManaged = "UPDATE users SET managed_by = NULL WHERE managed_by = $1"
    static let add = """
        INSERT INTO group_members (group_id, user_id, added_at) VALUES ($1, $2, $3)
        ON CONFLICT (group_id, user_id) DO NOTHING
        """
    static let removeMember = "DELETE FROM group_members WHERE group_id = $1 AND user_id = $2"
    private static let later = """
        UPDATE users SET rights_changed_at = CASE WHEN rights_changed_at >= $2 THEN rights_changed_at + 1 ELSE $2 END
        """
    static let change = later + " WHERE id = $1 RETURNING id, rights_changed_at"
    static let changeMembers =
        later + " WHERE id IN (SELECT user_id FROM group_members WHERE group_id = $1) RETURNING id, rights_changed_at"
}

extension SQLReading {
    func group(_ id: GroupID) throws(StoreError) -> Group? {
        try connection.first(SQL.one + lock("groups"), [.text(id.text)], Group.init)
    }

    func group(named name: String) throws(StoreError) -> Group? {
        try connection.first(SQL.named + lock("groups"), [.text(name)], Group.init)
    }

    func groups(after name: String, limit: Int) throws(StoreError) -> [Group] {
        try connection.all(SQL.page, [.text(name), .int(Int64(limit))], Group.init)
    }

    func groups(madeBy user: UserID, after name: String, limit: Int) throws(StoreError) -> [Group] {
        try connection.all(SQL.pageOfMaker, [.text(user.text), .text(name), .int(Int64(limit))], Group.init)
    }

    func groupCount(madeBy user: UserID) throws(StoreError) -> Int {
        try connection.first(SQL.countOfMaker, [.text(user.text)]) { Int($0.int(0)) } ?? 0
    }

    func groupCount() throws(StoreError) -> Int {
        try connection.first(SQL.count) { Int($0.int(0)) } ?? 0
    }

    func groups(of users: Set<UserID>) throws(StoreError) -> [UserID: [Group]] {
        var groups: [UserID: [Group]] = [:]
        for chunk in users.map(\.text).chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            let rows = try connection.all(SQL.ofUsers(list), list.bindings) { (UserID($0.text(5)), Group($0)) }
            for (user, group) in rows { groups[user, default: []].append(group) }
        }
        return groups
    }

    func members(of group: GroupID, after user: UserID?, limit: Int) throws(StoreError) -> [Account] {
        try connection.all(
            SQL.members,
            [.text(group.text), .text(user?.text ?? ""), .int(Int64(limit))],
            Account.init
        )
    }

    func groupSpans(of user: UserID, since moment: Timestamp) throws(StoreError) -> [GroupSpan] {
        try connection.all(SQL.spans, [.text(user.text), SQLValue(moment)]) { row in
            GroupSpan(name: row.text(0), joinedAt: row.moment(1), leftAt: row.optionalMoment(2))
        }
    }

    func memberCount(of group: GroupID) throws(StoreError) -> Int {
        try connection.first(SQL.memberCount, [.text(group.text)]) { Int($0.int(0)) } ?? 0
    }
}

extension SQLWriter {
    func holdGroup(named name: String) throws(StoreError) { try lock(name: "group " + name) }

    func save(_ group: Group) throws(StoreError) {
        try connection.run(
            SQL.save,
            [
                .text(group.id.text), .text(group.name), SQLValue(group.description),
                SQLValue(group.createdBy?.text), SQLValue(group.createdAt),
            ]
        )
    }

    func remove(_ group: Group, at moment: Timestamp) throws(StoreError) {
        try connection.run(SQL.noteAllLeft, [.text(group.id.text), .text(group.name), SQLValue(moment)])
        for removal in SQL.removals { try connection.run(removal, [.text(group.id.text)]) }
        try connection.run(SQL.freeManaged, [.text(Account.Manager.group(group.name).text)])
    }

    func add(_ user: UserID, to group: GroupID, at moment: Timestamp) throws(StoreError) -> Bool {
        try connection.run(SQL.add, [.text(group.text), .text(user.text), SQLValue(moment)]) > 0
    }

    func remove(_ user: UserID, from group: Group, at moment: Timestamp) throws(StoreError) -> Bool {
        let (id, name) = (SQLValue.text(group.id.text), SQLValue.text(group.name))
        try connection.run(SQL.noteLeft, [id, name, SQLValue(moment), .text(user.text)])
        return try connection.run(SQL.removeMember, [id, .text(user.text)]) > 0
    }

    func removeLeftGroups(before moment: Timestamp, limit: Int) throws(StoreError) -> Int {
        let old = try connection.all(SQL.oldLeft, [SQLValue(moment), .int(Int64(limit))]) { row in
            [SQLValue.text(row.text(0)), SQLValue(row.moment(1)), .text(row.text(2))]
        }
        for key in old { try connection.run(SQL.forgetLeft, key) }
        return old.count
    }

    func changeRights(of user: UserID, at moment: Timestamp) throws(StoreError) -> Timestamp? {
        try connection.first(SQL.change, [.text(user.text), SQLValue(moment)]) { $0.moment(1) }
    }

    func changeRights(ofMembersOf group: GroupID, at moment: Timestamp) throws(StoreError) -> [UserID: Timestamp] {
        let rows = try connection.all(SQL.changeMembers, [.text(group.text), SQLValue(moment)]) {
            (UserID($0.text(0)), $0.moment(1))
        }
        return Dictionary(rows) { $1 }
    }
}

extension Group {
    fileprivate init(_ row: any SQLRow) {
        self.init(
            id: GroupID(row.text(0)),
            name: row.text(1),
            description: row.optionalText(2),
            createdBy: row.optionalText(3).map { UserID($0) },
            createdAt: row.moment(4)
        )
    }
}
