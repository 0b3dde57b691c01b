import TocsinCore

private enum SQL {
    static let columns = """
        message_id, topic_id, first_device, last_device, next_device, lease_until, node, created_at, urgent
        """
    static let add = RowInsertions(
        into: "fanouts",
        [
            ("message_id", .text), ("topic_id", .text), ("first_device", .text), ("last_device", .text),
            ("next_device", .text), ("lease_until", .integer), ("node", .text), ("created_at", .integer),
            ("urgent", .integer),
        ]
    )
    /// Two walks over two indexes, each in order and no longer than the limit; rows
    /// are answered in no order.
    static func claim(urgentOnly: Bool, _ dialect: Dialect) -> String {
        let urgency = urgentOnly ? " AND urgent = 1" : ""
        let lock = dialect.claimLock("fanouts")
        return """
            WITH due AS MATERIALIZED (
                SELECT * FROM (SELECT message_id, first_device, created_at FROM fanouts
                    WHERE lease_until IS NULL\(urgency)
                    ORDER BY created_at, message_id, first_device LIMIT $4\(lock)) AS waiting
                UNION ALL
                SELECT * FROM (SELECT message_id, first_device, created_at FROM fanouts
                    WHERE lease_until IS NOT NULL AND lease_until <= $3\(urgency)
                    ORDER BY lease_until LIMIT $4\(lock)) AS leased
                ORDER BY 3, 1, 2 LIMIT $4)
            UPDATE fanouts SET node = $1, lease_until = $2
            WHERE (message_id, first_device) IN (SELECT message_id, first_device FROM due)
            RETURNING \(columns)
            """
    }

    static let advance = """
        UPDATE fanouts SET next_device = $1, lease_until = $2
        WHERE message_id = $3 AND first_device = $4 AND node = $5 AND lease_until = $6
        """
    static let conclude = """
        DELETE FROM fanouts WHERE message_id = $1 AND first_device = $2 AND node = $3 AND lease_until = $4
        """
    static let shorten = """
        UPDATE fanouts SET last_device = $1
        WHERE message_id = $2 AND first_device = $3 AND node = $4 AND lease_until = $5 AND next_device = ''
        """
    static let dropLeases = "UPDATE fanouts SET lease_until = NULL, node = NULL WHERE node IS NOT NULL"

    static let audience = "SELECT count(*) FROM (SELECT 1 FROM memberships WHERE topic_id = $1 LIMIT $2) AS part"
    static let devices = """
        d.active = 1 AND d.id > $2 AND d.id >= $3 AND ($4 = '' OR d.id < $4) AND d.active_since <= $5
            AND NOT EXISTS (SELECT 1 FROM deliveries AS x WHERE x.message_id = $6 AND x.device_id = d.id)
        ORDER BY d.id LIMIT $7
        """
    /// From the members to their devices: each page costs all members of the topic.
    static let devicesOfMembers = """
        SELECT \(Device.columns), m.push, m.delivery, m.min_priority FROM memberships AS m CROSS JOIN devices AS d
        WHERE m.topic_id = $1 AND m.created_at <= $5 AND d.user_id = m.user_id AND \(devices)
        """
    /// From the devices in order of id to their owners' membership: all pages together cost
    /// one walk over the devices.
    static let devicesInOrder = """
        SELECT \(Device.columns), m.push, m.delivery, m.min_priority FROM devices AS d CROSS JOIN memberships AS m
        WHERE m.topic_id = $1 AND m.user_id = d.user_id AND m.created_at <= $5 AND \(devices)
        """
    static func devicesHearing(_ users: BoundList) -> String {
        """
        SELECT \(Device.columns), m.push, m.delivery, m.min_priority FROM memberships AS m CROSS JOIN devices AS d
        WHERE m.topic_id = $1 AND m.user_id IN (\(users.placeholders)) AND d.user_id = m.user_id AND d.active = 1
        ORDER BY d.id LIMIT 500
        """
    }
    static let withoutDevice = """
        SELECT m.user_id FROM memberships AS m
        WHERE m.topic_id = $1 AND m.created_at <= $2
            AND NOT EXISTS (SELECT 1 FROM devices AS d
                WHERE d.user_id = m.user_id AND d.active = 1 AND d.active_since <= $2)
            AND NOT EXISTS (SELECT 1 FROM ended_devices AS e
                WHERE e.last_fanout >= $2 AND e.active_since <= $2 AND e.user_id = m.user_id)
        ORDER BY m.user_id
        """
    static let firstMembers = """
        SELECT m.topic_id, m.user_id, EXISTS (SELECT 1 FROM devices AS d WHERE d.user_id = m.user_id AND d.active = 1)
        FROM memberships AS m WHERE m.topic_id = $1 ORDER BY m.user_id LIMIT $2
        """
    /// The same of each topic of a list, on databases that have lists.
    static let firstMembersOfEach = """
        SELECT t.id, m.user_id, m.has_device FROM unnest($1::text[]) AS t (id) CROSS JOIN LATERAL (
            SELECT m.user_id, EXISTS (SELECT 1 FROM devices AS d WHERE d.user_id = m.user_id AND d.active = 1) AS has_device
            FROM memberships AS m WHERE m.topic_id = t.id ORDER BY m.user_id LIMIT $2) AS m
        ORDER BY t.id, m.user_id
        """
    static let deviceCount = "SELECT count(*) FROM devices"
    static let nextCut = "SELECT id FROM devices WHERE id > $1 ORDER BY id LIMIT 1 OFFSET $2"
    /// Members of a topic up to which going from them to their devices is the shorter way.
    static let fewMembers: Int64 = 4096
}

/// The first members of topics, and which topics have few of them, none with a device.
struct FewMembers {
    struct Row {
        let topic: TopicID
        let user: UserID
        let hasDevice: Bool

        init(_ row: any SQLRow) {
            (topic, user, hasDevice) = (TopicID(row.text(0)), UserID(row.text(1)), row.int(2) != 0)
        }
    }

    private(set) var withoutDevice: [TopicID: [UserID]]
    private let limit: Int

    /// Topics of so many members at most are meant.
    init(of topics: Set<TopicID>, limit: Int) {
        withoutDevice = Dictionary(uniqueKeysWithValues: topics.map { ($0, []) })
        self.limit = limit
    }

    /// What to ask: one statement for all topics where there are lists.
    func questions(_ dialect: Dialect) -> [(sql: String, bindings: [SQLValue])] {
        let topics = withoutDevice.keys
        let most = SQLValue.int(Int64(limit + 1))
        guard dialect.hasManyWriters, topics.count > 1 else {
            return topics.map { (SQL.firstMembers, [.text($0.text), most]) }
        }
        let list = ParameterLists(count: 1)
        for topic in topics { list.bind(topic.text, at: 1) }
        return [(SQL.firstMembersOfEach, list.bindings + [most])]
    }

    mutating func add(_ row: Row) {
        guard let users = withoutDevice[row.topic] else { return }
        withoutDevice[row.topic] = row.hasDevice || users.count == limit ? nil : users + [row.user]
    }
}

extension SQLReading {
    func nextDevices(of fanout: Fanout, limit: Int) throws(StoreError) -> [Device] {
        let isLarge = try isLarge(fanout.topicID)
        let bindings: [SQLValue] = [
            .text(fanout.topicID.text), .text(fanout.nextDevice), .text(fanout.firstDevice), .text(fanout.lastDevice),
            SQLValue(fanout.createdAt), .text(fanout.messageID.text), .int(Int64(limit)),
        ]
        let statement = isLarge ? SQL.devicesInOrder : SQL.devicesOfMembers
        let active = try connection.all(statement, bindings, Self.memberDevice)
        let ended = try endedDevices(bindings)
        let devices = ended.isEmpty ? active : Self.merged(active, ended, limit: limit)
        return try counted(devices)
    }

    func devices(of users: [UserID], hearing topic: TopicID) throws(StoreError) -> [Device] {
        guard !users.isEmpty else { return [] }
        let list = BoundList(users.prefix(BoundList.maximumCount).map(\.text), firstParameter: 2)
        return try connection.all(
            SQL.devicesHearing(list),
            [.text(topic.text)] + list.bindings,
            Self.memberDevice
        )
    }

    /// A device with what its owner wants of a topic.
    private static func memberDevice(_ row: any SQLRow) -> Device? {
        var device = Device(row, at: 0)
        device?.isTopicMuted = row.int(Device.columnCount) == 0
        device?.topicWish = MembershipWish(row, at: Device.columnCount + 1)
        return device
    }

    /// A large topic's pages walk over all devices, so all devices are cut.
    func deviceCuts(of topic: TopicID, partSize: Int, maximumParts: Int) throws(StoreError) -> [String] {
        guard try isLarge(topic) else { return [] }
        let count = Int(try connection.first(SQL.deviceCount) { $0.int(0) } ?? 0)
        let parts = min(maximumParts, count / max(1, partSize))
        guard parts > 1 else { return [] }
        var cuts: [String] = []
        let bindings: [SQLValue] = [.int(Int64(count / parts - 1))]
        while cuts.count < parts - 1,
            let cut = try connection.first(SQL.nextCut, [.text(cuts.last ?? "")] + bindings, { $0.text(0) })
        {
            cuts.append(cut)
        }
        return cuts
    }

    func membersWithoutDevice(of fanout: Fanout) throws(StoreError) -> [UserID] {
        // A walk over so many members would hold up other writes; their
        // owner can still ask for each.
        guard try !isLarge(fanout.topicID) else { return [] }
        return try connection.all(
            SQL.withoutDevice,
            [.text(fanout.topicID.text), SQLValue(fanout.createdAt)]
        ) { UserID($0.text(0)) }
    }

    private func isLarge(_ topic: TopicID) throws(StoreError) -> Bool {
        try session.isLarge(topic) { () throws(StoreError) in
            let limit = SQLValue.int(SQL.fewMembers + 1)
            let members = try connection.first(SQL.audience, [.text(topic.text), limit]) { $0.int(0) } ?? 0
            return members > SQL.fewMembers
        }
    }

    /// The first devices of both lists by id; of two with one id the active one.
    private static func merged(_ active: [Device], _ ended: [Device], limit: Int) -> [Device] {
        var known = Set(active.map(\.id))
        let all = active + ended.filter { known.insert($0.id).inserted }
        return Array(all.sorted { $0.id.text.utf8.lexicographicallyPrecedes($1.id.text.utf8) }.prefix(limit))
    }
}

extension SQLWriter {
    func addFanouts(_ fanouts: [Fanout]) throws(StoreError) {
        try connection.queueInsert(SQL.add[session.dialect], rows: fanouts.count) { row, parameters in
            let fanout = fanouts[row]
            parameters.bind(fanout.messageID.text, at: 1)
            parameters.bind(fanout.topicID.text, at: 2)
            parameters.bind(fanout.firstDevice, at: 3)
            parameters.bind(fanout.lastDevice, at: 4)
            parameters.bind(fanout.nextDevice, at: 5)
            parameters.bind(fanout.leaseUntil, at: 6)
            parameters.bind(fanout.node, at: 7)
            parameters.bind(fanout.createdAt.milliseconds, at: 8)
            parameters.bind(Int64(fanout.isUrgent ? 1 : 0), at: 9)
        }
    }

    func split(_ fanout: Fanout, at cuts: [String]) throws(StoreError) -> [Fanout] {
        let inside = cuts.filter { cut in
            fanout.firstDevice.utf8.lexicographicallyPrecedes(cut.utf8)
                && (fanout.lastDevice.isEmpty || cut.utf8.lexicographicallyPrecedes(fanout.lastDevice.utf8))
        }
        guard let first = inside.first else { return [fanout] }
        let key: [SQLValue] = [
            .text(fanout.messageID.text), .text(fanout.firstDevice), SQLValue(fanout.node), SQLValue(fanout.leaseUntil),
        ]
        guard try connection.run(SQL.shorten, [.text(first)] + key) > 0 else { return [] }
        var parts = [fanout]
        for cut in inside {
            parts[parts.count - 1].lastDevice = cut
            var part = fanout
            part.firstDevice = cut
            // Shortly before the range, so that whichever bound a statement walks from is near.
            part.nextDevice = String(cut.dropLast())
            parts.append(part)
        }
        try addFanouts(Array(parts.dropFirst()))
        return parts
    }

    func claimFanouts(
        node: String,
        now: Timestamp,
        leaseUntil: Timestamp,
        limit: Int,
        urgentOnly: Bool
    ) throws(StoreError) -> [Fanout] {
        let claimed = try connection.all(
            SQL.claim(urgentOnly: urgentOnly, session.dialect),
            [.text(node), SQLValue(leaseUntil), SQLValue(now), .int(Int64(limit))],
            Fanout.init
        )
        return claimed.sorted {
            ($0.createdAt, $0.messageID, $0.firstDevice) < ($1.createdAt, $1.messageID, $1.firstDevice)
        }
    }

    func advance(_ fanout: Fanout, nextDevice: String, leaseUntil: Timestamp) throws(StoreError) -> Bool {
        try connection.run(
            SQL.advance,
            [
                .text(nextDevice), SQLValue(leaseUntil), .text(fanout.messageID.text), .text(fanout.firstDevice),
                SQLValue(fanout.node), SQLValue(fanout.leaseUntil),
            ]
        ) > 0
    }

    func conclude(_ fanout: Fanout) throws(StoreError) -> Bool {
        try connection.run(
            SQL.conclude,
            [
                .text(fanout.messageID.text), .text(fanout.firstDevice), SQLValue(fanout.node),
                SQLValue(fanout.leaseUntil),
            ]
        ) > 0
    }

    func dropFanoutLeases() throws(StoreError) {
        try connection.run(SQL.dropLeases)
    }
}

extension Fanout {
    fileprivate init(_ row: any SQLRow) {
        self.init(
            messageID: MessageID(row.text(0)),
            topicID: TopicID(row.text(1)),
            firstDevice: row.text(2),
            lastDevice: row.text(3),
            nextDevice: row.text(4),
            leaseUntil: row.optionalMoment(5),
            node: row.optionalText(6),
            createdAt: row.moment(7),
            isUrgent: row.int(8) != 0
        )
    }
}
