import TocsinCore

private enum SQL {
    static let columns = """
        user_id, time_zone, quiet_hours, quiet_break_through, quiet_mode, do_not_disturb_until, max_singles
        """
    static func ofUsers(_ users: BoundList) -> String {
        "SELECT \(columns) FROM user_settings WHERE user_id IN (\(users.placeholders))"
    }
    static let save = """
        INSERT INTO user_settings (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (user_id) DO UPDATE SET time_zone = excluded.time_zone, quiet_hours = excluded.quiet_hours,
            quiet_break_through = excluded.quiet_break_through, quiet_mode = excluded.quiet_mode,
            do_not_disturb_until = excluded.do_not_disturb_until, max_singles = excluded.max_singles
        """
    static let held = """
        SELECT \(Delivery.columns), coalesce(m.priority, 3), m.expires_at,
            m.id IS NULL OR coalesce(m.deleted, 0) <> 0 OR t.id IS NULL OR coalesce(t.deleted, 0) <> 0
                OR coalesce(s.push, 1) = 0
        FROM devices AS d JOIN deliveries AS x ON x.device_id = d.id
        LEFT JOIN messages AS m ON m.id = x.message_id
        LEFT JOIN topics AS t ON t.id = m.topic_id
        LEFT JOIN memberships AS s ON s.topic_id = m.topic_id AND s.user_id = d.user_id
        WHERE d.user_id = $1 AND x.status IN ('waiting', 'sending') AND x.status = 'waiting'
            AND x.reason = '\(DeliveryReason.quietHours.rawValue)'
        ORDER BY 13 DESC, m.made_at DESC, x.message_id DESC, x.device_id LIMIT $2
        """
    static let release = "reason = NULL, next_attempt_at = $1, updated_at = $2, redriven_at = $2"
    static let settle = """
        status = 'accepted', reason = '\(DeliveryReason.inSummary.rawValue)', provider_id = $1, next_attempt_at = NULL,
            updated_at = $2
        """
    static func change(_ set: String, _ messages: BoundList, _ devices: BoundList) -> String {
        """
        UPDATE deliveries SET \(set)
        WHERE message_id IN (\(messages.placeholders)) AND device_id IN (\(devices.placeholders))
            AND status = 'waiting' AND reason = '\(DeliveryReason.quietHours.rawValue)'
        RETURNING message_id, device_id
        """
    }
    static let windows = """
        SELECT t.id, t.name, s.digest_number, t.last_number, t.first_number FROM memberships AS s
        JOIN topics AS t ON t.id = s.topic_id AND coalesce(t.deleted, 0) = 0
        WHERE s.user_id = $1 AND s.delivery = 'DIGEST' ORDER BY t.id
        """
    static let digestUsers = """
        SELECT DISTINCT user_id FROM memberships WHERE delivery = 'DIGEST' AND user_id > $1
            AND NOT EXISTS (
                SELECT 1 FROM digests WHERE digests.user_id = memberships.user_id AND digests.topic_ids IS NULL)
        ORDER BY user_id LIMIT $2
        """
    static let weightiest = """
        SELECT id FROM messages WHERE topic_id = $1 AND number >= $2 AND number <= $3 AND coalesce(deleted, 0) = 0
        ORDER BY coalesce(priority, 3) DESC, number DESC LIMIT $4
        """
    static let setNumber = "UPDATE memberships SET digest_number = $3 WHERE topic_id = $1 AND user_id = $2"
}

extension SQLReading {
    func userSettings(of users: Set<UserID>) throws(StoreError) -> [UserID: UserSettings] {
        var found: [UserID: UserSettings] = [:]
        for chunk in users.map(\.text).sorted().chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            for settings in try connection.all(SQL.ofUsers(list), list.bindings, UserSettings.init(_:)) {
                found[settings.userID] = settings
            }
        }
        return found
    }

    func heldDeliveries(of user: UserID, limit: Int) throws(StoreError) -> [HeldDelivery] {
        try connection.all(SQL.held + lock("x"), [.text(user.text), .int(Int64(limit))]) { row -> HeldDelivery? in
            guard let delivery = Delivery(row) else { return nil }
            return HeldDelivery(
                delivery: delivery,
                priority: row.int(12),
                isUnwanted: row.int(14) != 0,
                expiresAt: row.optionalText(13).flatMap { Timestamp(awsDateTime: $0) }
            )
        }
    }

    func digestWindows(of user: UserID) throws(StoreError) -> [DigestWindow] {
        try connection.all(SQL.windows, [.text(user.text)]) { row in
            DigestWindow(
                topicID: TopicID(row.text(0)),
                name: row.optionalText(1) ?? row.text(0),
                told: row.isNull(2) ? row.int(3) : row.int(2),
                last: row.int(3),
                first: row.int(4)
            )
        }
    }

    func digestUsers(after user: String, limit: Int) throws(StoreError) -> [UserID] {
        try connection.all(SQL.digestUsers, [.text(user), .int(Int64(limit))]) { UserID($0.text(0)) }
    }

    func weightiestMessages(
        _ model: ModelType,
        of topic: TopicID,
        numbers: ClosedRange<MessageNumber>,
        limit: Int
    ) throws(StoreError) -> [Record] {
        let ids = try connection.all(
            SQL.weightiest,
            [.text(topic.text), .int(numbers.lowerBound), .int(numbers.upperBound), .int(Int64(limit))]
        ) { $0.text(0) }
        guard !ids.isEmpty else { return [] }
        let found = try records(model, ids: ids, where: .always)
        return ids.compactMap { id in found.first { $0.id == id } }
    }
}

extension SQLWriter {
    /// What they become is decided upon.
    func userSettings(of users: Set<UserID>) throws(StoreError) -> [UserID: UserSettings] {
        for user in users.map(\.text).sorted() { try lock(name: "settings of " + user) }
        return try unlocked.userSettings(of: users)
    }

    func save(_ settings: UserSettings) throws(StoreError) {
        try connection.run(
            SQL.save,
            [
                .text(settings.userID.text), .text(settings.timeZone),
                .text(settings.quietHours.map(\.text).joined(separator: ";")), .int(settings.quietBreakThrough),
                .text(settings.quietMode.rawValue), SQLValue(settings.doNotDisturbUntil),
                .int(Int64(settings.maxSingles)),
            ]
        )
    }

    func release(_ deliveries: [Delivery], at moment: Timestamp, now: Timestamp) throws(StoreError) {
        try change(deliveries, SQL.release, [SQLValue(moment), SQLValue(now)]) {
            ($0.reason, $0.nextAttemptAt, $0.redrivenAt, $0.updatedAt) = (nil, moment, now, now)
        }
    }

    func settle(_ deliveries: [Delivery], inSummary message: MessageID, now: Timestamp) throws(StoreError) {
        let id = "summary/" + message.text
        try change(deliveries, SQL.settle, [.text(id), SQLValue(now)]) {
            ($0.status, $0.reason, $0.providerID) = (.accepted, .inSummary, id)
            ($0.nextAttemptAt, $0.updatedAt) = (nil, now)
        }
    }

    func setDigestNumber(_ number: MessageNumber, of user: UserID, in topic: TopicID) throws(StoreError) {
        try connection.run(SQL.setNumber, [.text(topic.text), .text(user.text), .int(number)])
    }

    /// Changes those that are still held, in one statement for messages to the same devices.
    private func change(
        _ deliveries: [Delivery],
        _ set: String,
        _ values: [SQLValue],
        _ body: (inout Delivery) -> Void
    ) throws(StoreError) {
        let devices = Dictionary(grouping: deliveries, by: \.messageID).mapValues { $0.map(\.deviceID.text).sorted() }
        var changed: Set<[String]> = []
        for (devices, messages) in Dictionary(grouping: devices.keys, by: { devices[$0] ?? [] }) {
            for chunk in messages.map(\.text).sorted().chunks(of: BoundList.maximumCount) {
                let ofMessages = BoundList(chunk, firstParameter: values.count + 1)
                let ofDevices = BoundList(devices, firstParameter: values.count + ofMessages.bindings.count + 1)
                let bindings = values + ofMessages.bindings + ofDevices.bindings
                let keys = try connection.all(SQL.change(set, ofMessages, ofDevices), bindings) { row in
                    [row.text(0), row.text(1)]
                }
                changed.formUnion(keys)
            }
        }
        for delivery in deliveries where changed.contains([delivery.messageID.text, delivery.deviceID.text]) {
            var written = delivery
            body(&written)
            note(.deliveryChanged(written))
        }
    }
}

extension UserSettings {
    /// Reads the columns of a selection.
    fileprivate init(_ row: any SQLRow) {
        self.init(userID: UserID(row.text(0)))
        timeZone = row.text(1)
        quietHours = row.text(2).split(separator: ";").compactMap { WeeklyHours(text: $0) }
        quietBreakThrough = row.int(3)
        quietMode = QuietMode(rawValue: row.text(4)) ?? .hold
        doNotDisturbUntil = row.optionalMoment(5)
        maxSingles = Int(row.int(6))
    }
}
