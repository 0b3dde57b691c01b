import TocsinCore

private enum SQL {
    static let columns = "id, topic_id, subject, roles, push, expires_at, created_at, changed_at, created_by"
    static let select = "SELECT \(columns) FROM topic_grants"
    static let one = select + " WHERE id = $1"
    static let ofSubjectInTopic = select + " WHERE topic_id = $1 AND subject = $2"
    static let ofTopic = select + " WHERE topic_id = $1 AND id > $2 ORDER BY id LIMIT $3"
    static let count = "SELECT count(*) FROM topic_grants WHERE topic_id = $1"
    static func ofSubject(_ dialect: Dialect) -> String {
        """
        \(select) WHERE subject = $1 AND topic_id > $2 AND (expires_at IS NULL OR expires_at > \(dialect.moment))
            ORDER BY topic_id LIMIT $3
        """
    }
    static func pushes(_ subjects: BoundList, _ dialect: Dialect) -> String {
        let next = subjects.bindings.count + 1
        return """
            \(select) AS g WHERE subject IN (\(subjects.placeholders)) AND push <> 0
                AND (expires_at IS NULL OR expires_at > \(dialect.moment))
                AND NOT EXISTS (SELECT 1 FROM memberships AS m WHERE m.topic_id = g.topic_id AND m.user_id = $\(next))
                AND NOT EXISTS (SELECT 1 FROM left_topics AS l
                    WHERE l.topic_id = g.topic_id AND l.user_id = $\(next) AND l.left_at >= g.created_at)
                ORDER BY topic_id LIMIT $\(next + 1)
            """
    }
    static func roles(_ topics: String, _ subjects: String, _ dialect: Dialect) -> String {
        """
        SELECT topic_id, subject, roles FROM topic_grants WHERE topic_id IN (\(topics)) AND subject IN (\(subjects))
            AND (expires_at IS NULL OR expires_at > \(dialect.moment))
        """
    }
    static func topics(_ subjects: BoundList, _ dialect: Dialect) -> String {
        """
        SELECT subject, topic_id, owner, roles, expires_at FROM (
            SELECT g.subject, g.topic_id, t.owner, g.roles, g.expires_at,
                row_number() OVER (PARTITION BY t.owner ORDER BY g.topic_id) AS place
            FROM topic_grants AS g JOIN topics AS t ON t.id = g.topic_id
            WHERE g.subject IN (\(subjects.placeholders)) AND (g.expires_at IS NULL OR g.expires_at > \(dialect.moment))
        ) AS granted WHERE place <= $\(subjects.bindings.count + 1) LIMIT $\(subjects.bindings.count + 2)
        """
    }
    static func gained(_ subjects: BoundList, _ dialect: Dialect) -> String {
        let next = subjects.bindings.count + 1
        return """
            SELECT topic_id FROM topic_grants WHERE subject IN (\(subjects.placeholders))
                AND changed_at >= $\(next) AND roles & $\(next + 1) <> 0
                AND (expires_at IS NULL OR expires_at > \(dialect.moment))
            """
    }
    static func lost(_ subjects: BoundList, _ dialect: Dialect) -> String {
        let next = subjects.bindings.count + 1
        return """
            SELECT topic_id, ended_at FROM ended_grants WHERE subject IN (\(subjects.placeholders)) AND ended_at >= $\(next)
            UNION ALL
            SELECT topic_id, expires_at FROM topic_grants WHERE subject IN (\(subjects.placeholders))
                AND expires_at >= $\(next) AND expires_at <= \(dialect.moment)
            """
    }
    static func ended(_ dialect: Dialect) -> String {
        "\(select) WHERE expires_at <= \(dialect.moment) ORDER BY expires_at LIMIT $1"
    }
    static let save = """
        INSERT INTO topic_grants (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (topic_id, subject) DO UPDATE SET roles = excluded.roles, push = excluded.push,
            expires_at = excluded.expires_at, changed_at = excluded.changed_at
        """
    static let remove = "DELETE FROM topic_grants WHERE id = $1"
    static let share = "UPDATE topics SET shared = 1 WHERE id = $1 AND shared IS NULL"
    static let unshare = """
        UPDATE topics SET shared = NULL
        WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM topic_grants AS g WHERE g.topic_id = $1)
        """
    static let noteEnd = """
        INSERT INTO ended_grants (topic_id, subject, ended_at) VALUES ($1, $2, $3)
        ON CONFLICT (topic_id, subject) DO UPDATE SET ended_at = excluded.ended_at
        """
    static let forgetEnd = "DELETE FROM ended_grants WHERE topic_id = $1 AND subject = $2"
    static let oldEnds = "SELECT topic_id, subject FROM ended_grants WHERE ended_at < $1 ORDER BY ended_at LIMIT $2"
    static let hasLeft = "SELECT 1 FROM left_topics WHERE topic_id = $1 AND user_id = $2 AND left_at >= $3"
    static let membersOfGroup = """
        SELECT m.user_id FROM groups AS g JOIN group_members AS m ON m.group_id = g.id
        WHERE g.name = $1 AND m.user_id > $2 ORDER BY m.user_id LIMIT $3
        """
    static let usersNamed = "SELECT user_id FROM user_facts WHERE username = $1 ORDER BY user_id LIMIT $2"
    static let leave = """
        INSERT INTO left_topics (topic_id, user_id, left_at) SELECT t.id, $2, $3 FROM topics AS t WHERE t.id = $1
        ON CONFLICT (topic_id, user_id) DO UPDATE SET left_at = excluded.left_at
        """
    static let comeBack = "DELETE FROM left_topics WHERE topic_id = $1 AND user_id = $2"
}

extension SQLReading {
    func grant(_ id: GrantID) throws(StoreError) -> TopicGrant? {
        try connection.first(SQL.one + lock("topic_grants"), [.text(id.text)], TopicGrant.init)
    }

    func grant(of subject: GrantSubject, in topic: TopicID) throws(StoreError) -> TopicGrant? {
        let bindings = [SQLValue.text(topic.text), .text(subject.text)]
        return try connection.first(SQL.ofSubjectInTopic + lock("topic_grants"), bindings, TopicGrant.init)
    }

    func grants(of topic: TopicID, after id: String, limit: Int) throws(StoreError) -> [TopicGrant] {
        try connection.all(SQL.ofTopic, [.text(topic.text), .text(id), .int(Int64(limit))], TopicGrant.init)
    }

    func grantCount(of topic: TopicID) throws(StoreError) -> Int {
        try connection.first(SQL.count, [.text(topic.text)]) { Int($0.int(0)) } ?? 0
    }

    func grants(of subject: GrantSubject, after topic: TopicID?, limit: Int) throws(StoreError) -> [TopicGrant] {
        let bindings = [SQLValue.text(subject.text), .text(topic?.text ?? ""), .int(Int64(limit))]
        return try connection.all(SQL.ofSubject(session.dialect), bindings, TopicGrant.init)
    }

    func pushGrants(
        to subjects: [GrantSubject],
        joining user: UserID,
        limit: Int
    ) throws(StoreError) -> [TopicGrant] {
        var found: [TopicGrant] = []
        for chunk in subjects.map(\.text).chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            let bindings = list.bindings + [.text(user.text), .int(Int64(limit))]
            found += try connection.all(SQL.pushes(list, session.dialect), bindings, TopicGrant.init)
        }
        return Array(found.sorted { $0.topicID.text < $1.topicID.text }.prefix(limit))
    }

    func grantedTopics(
        of subjects: [GrantSubject],
        limit: Int,
        perOwner: Int
    ) throws(StoreError) -> [GrantChange] {
        var found: [GrantChange] = []
        for chunk in subjects.map(\.text).chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            let bindings = list.bindings + [.int(Int64(perOwner)), .int(Int64(max(0, limit - found.count)))]
            found += try connection.all(SQL.topics(list, session.dialect), bindings, GrantChange.init)
        }
        return found
    }

    func gainedTopics(
        _ subjects: [GrantSubject],
        _ need: TopicRole,
        since moment: Timestamp
    ) throws(StoreError) -> [TopicID] {
        var found: Set<String> = []
        for chunk in subjects.map(\.text).chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            let bindings = list.bindings + [SQLValue(moment), .int(need.rawValue)]
            found.formUnion(try connection.all(SQL.gained(list, session.dialect), bindings) { $0.text(0) })
        }
        return found.sorted().map { TopicID($0) }
    }

    func lostTopics(_ subjects: [GrantSubject], since moment: Timestamp) throws(StoreError) -> [TopicID: Timestamp] {
        var found: [TopicID: Timestamp] = [:]
        for chunk in subjects.map(\.text).chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            let bindings = list.bindings + [SQLValue(moment)]
            let rows = try connection.all(SQL.lost(list, session.dialect), bindings) { ($0.text(0), $0.moment(1)) }
            for (topic, end) in rows { found[TopicID(topic)] = max(end, found[TopicID(topic)] ?? end) }
        }
        return found
    }

    func endedGrants(limit: Int) throws(StoreError) -> [TopicGrant] {
        try connection.all(SQL.ended(session.dialect), [.int(Int64(limit))], TopicGrant.init)
    }

    func roles(of subjects: [GrantSubject], in topics: [TopicID]) throws(StoreError) -> GrantedRoles {
        var granted = GrantedRoles()
        for topics in topics.map(\.text).chunks(of: BoundList.maximumCount) {
            for subjects in subjects.map(\.text).chunks(of: BoundList.maximumCount) {
                let ids = BoundList(topics)
                let names = BoundList(subjects, firstParameter: ids.bindings.count + 1)
                let sql = SQL.roles(ids.placeholders, names.placeholders, session.dialect) + lock("topic_grants")
                let found = try connection.all(sql, ids.bindings + names.bindings) { row in
                    (TopicID(row.text(0)), GrantSubject(text: row.text(1)), TopicRole(rawValue: row.int(2)))
                }
                for case (let topic, let subject?, let roles) in found { granted.add(roles, to: subject, in: topic) }
            }
        }
        return granted
    }

    func members(ofGroup name: String, after user: UserID?, limit: Int) throws(StoreError) -> [UserID] {
        try connection.all(SQL.membersOfGroup, [.text(name), .text(user?.text ?? ""), .int(Int64(limit))]) {
            UserID($0.text(0))
        }
    }

    func hasLeft(_ user: UserID, _ topic: TopicID, since moment: Timestamp) throws(StoreError) -> Bool {
        let bindings = [.text(topic.text), .text(user.text), SQLValue(moment)]
        return try connection.first(SQL.hasLeft, bindings) { _ in true } ?? false
    }

    func users(named name: String, limit: Int) throws(StoreError) -> [UserID] {
        try connection.all(SQL.usersNamed, [.text(name), .int(Int64(limit))]) { UserID($0.text(0)) }
    }
}

extension SQLWriter {
    func save(_ grant: TopicGrant, replacing old: TopicGrant?) throws(StoreError) {
        try connection.run(SQL.save, grant.values)
        try connection.run(SQL.share, [.text(grant.topicID.text)])
        let couldRead = old.map { !$0.roles.isDisjoint(with: .reading) } ?? false
        if couldRead, grant.roles.isDisjoint(with: .reading) {
            try noteEnd(of: grant.subject, in: grant.topicID, at: grant.changedAt)
        } else if !grant.roles.isDisjoint(with: .reading) {
            try connection.run(SQL.forgetEnd, [.text(grant.topicID.text), .text(grant.subject.text)])
        }
    }

    func remove(_ grant: TopicGrant, at moment: Timestamp) throws(StoreError) {
        try connection.run(SQL.remove, [.text(grant.id.text)])
        try connection.run(SQL.unshare, [.text(grant.topicID.text)])
        // Who never read the topic has lost nothing that a sync could tell of.
        if !grant.roles.isDisjoint(with: .reading) {
            try noteEnd(of: grant.subject, in: grant.topicID, at: moment)
        }
    }

    func noteEnd(of subject: GrantSubject, in topic: TopicID, at moment: Timestamp) throws(StoreError) {
        try connection.run(SQL.noteEnd, [.text(topic.text), .text(subject.text), SQLValue(moment)])
    }

    func setLeft(_ moment: Timestamp?, _ user: UserID, _ topic: TopicID) throws(StoreError) {
        let names: [SQLValue] = [.text(topic.text), .text(user.text)]
        guard let moment else {
            try connection.run(SQL.comeBack, names)
            return
        }
        try connection.run(SQL.leave, names + [SQLValue(moment)])
    }

    func removeEndedGrants(before moment: Timestamp, limit: Int) throws(StoreError) -> Int {
        let old = try connection.all(SQL.oldEnds, [SQLValue(moment), .int(Int64(limit))]) { ($0.text(0), $0.text(1)) }
        for (topic, subject) in old { try connection.run(SQL.forgetEnd, [.text(topic), .text(subject)]) }
        return old.count
    }
}

extension GrantChange {
    fileprivate init?(_ row: any SQLRow) {
        guard let subject = GrantSubject(text: row.text(0)) else { return nil }
        let roles = TopicRole(rawValue: row.int(3))
        self.init(subject, TopicID(row.text(1)), row.optionalText(2) ?? "", roles, row.optionalMoment(4))
    }
}

extension TopicGrant {
    fileprivate var values: [SQLValue] {
        [
            .text(id.text), .text(topicID.text), .text(subject.text), .int(roles.rawValue), SQLValue(push),
            SQLValue(expiresAt), SQLValue(createdAt), SQLValue(changedAt), .text(createdBy.text),
        ]
    }

    /// Reads the columns of a selection; nil when the subject is of a kind that is not known.
    fileprivate init?(_ row: any SQLRow) {
        guard let subject = GrantSubject(text: row.text(2)) else { return nil }
        self.init(
            id: GrantID(row.text(0)),
            topicID: TopicID(row.text(1)),
            subject: subject,
            roles: TopicRole(rawValue: row.int(3)),
            createdAt: row.moment(6),
            createdBy: UserID(row.text(8))
        )
        push = row.int(4) != 0
        expiresAt = row.optionalMoment(5)
        changedAt = row.moment(7)
    }
}

extension Dialect {
    /// This moment by the database's clock, in milliseconds since 1970.
    var moment: String {
        switch self {
        case .sqlite: "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"
        case .postgres: "(extract(epoch FROM statement_timestamp()) * 1000)::bigint"
        }
    }
}
