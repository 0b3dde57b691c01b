import TocsinCore

private enum SQL {
    private static let columns = "topic_id, user_id, push, created_at, delivery, min_priority"
    static let ofUser = "SELECT \(columns) FROM memberships WHERE user_id = $1 ORDER BY topic_id"
    static let one = "SELECT \(columns) FROM memberships WHERE topic_id = $1 AND user_id = $2"
    static let ofTopic = """
        SELECT \(columns) FROM memberships WHERE topic_id = $1 AND user_id > $2
        ORDER BY user_id LIMIT $3
        """
    static let save = """
        INSERT INTO memberships (\(columns)) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (topic_id, user_id) DO UPDATE SET push = excluded.push, created_at = excluded.created_at,
            delivery = excluded.delivery, min_priority = excluded.min_priority
        """
    static let remove = "DELETE FROM memberships WHERE topic_id = $1 AND user_id = $2"
}

extension SQLReading {
    func memberships(of user: UserID) throws(StoreError) -> [Membership] {
        try connection.all(SQL.ofUser, [.text(user.text)], Membership.init(withWishes:))
    }

    func members(of topic: TopicID, after user: UserID?, limit: Int) throws(StoreError) -> [Membership] {
        try connection.all(
            SQL.ofTopic,
            [.text(topic.text), .text(user?.text ?? ""), .int(Int64(limit))],
            Membership.init(withWishes:)
        )
    }

    func membership(of user: UserID, in topic: TopicID) throws(StoreError) -> Membership? {
        try connection.first(
            SQL.one + lock("memberships"),
            [.text(topic.text), .text(user.text)],
            Membership.init(withWishes:)
        )
    }
}

extension SQLWriter {
    func save(_ membership: Membership) throws(StoreError) {
        try connection.run(
            SQL.save,
            [
                .text(membership.topicID.text), .text(membership.userID.text), SQLValue(membership.push),
                SQLValue(membership.createdAt),
                SQLValue(membership.delivery == .now ? nil : membership.delivery.rawValue),
                membership.minPriority == 1 ? .null : .int(membership.minPriority),
            ]
        )
        try beginCounting(membership)
    }

    func removeMembership(of user: UserID, in topic: TopicID, reason: DeliveryReason) throws(StoreError) {
        try noteEnd(ofMembershipOf: user, in: topic, reason: reason)
        try connection.run(SQL.remove, [.text(topic.text), .text(user.text)])
        try endCounting(topic, by: user)
    }
}

extension MembershipWish {
    /// Reads delivery and least priority; nil where the member has said neither.
    init?(_ row: any SQLRow, at first: Int) {
        guard !row.isNull(first) || !row.isNull(first + 1) else { return nil }
        self.init(
            delivery: row.optionalText(first).flatMap(MembershipDelivery.init(rawValue:)) ?? .now,
            minPriority: row.isNull(first + 1) ? 1 : row.int(first + 1)
        )
    }
}

extension Membership {
    /// Reads a row with its wishes at the end.
    init(withWishes row: any SQLRow) {
        self.init(
            topicID: TopicID(row.text(0)),
            userID: UserID(row.text(1)),
            push: row.int(2) != 0,
            createdAt: row.moment(3)
        )
        delivery = row.optionalText(4).flatMap(MembershipDelivery.init(rawValue:)) ?? .now
        minPriority = row.isNull(5) ? 1 : row.int(5)
    }
}
