import TocsinCore

private enum SQL {
    static let columns = """
        x.message_id, x.device_id, x.id, x.platform, x.status, x.reason, x.attempts, x.next_attempt_at, x.lease_until, \
        x.provider_id, x.updated_at, x.redriven_at
        """
    static let page = """
        SELECT \(columns) FROM deliveries AS x WHERE x.message_id = $1 AND x.device_id > $2 ORDER BY x.device_id LIMIT $3
        """
    static let pageOfStatus = """
        SELECT \(columns) FROM deliveries AS x WHERE x.message_id = $1 AND x.device_id > $2 AND x.status = $4
        ORDER BY x.device_id LIMIT $3
        """
    static let nextDue = """
        SELECT min(moment) FROM (
            SELECT min(next_attempt_at) AS moment FROM deliveries WHERE status = 'waiting'
            UNION ALL SELECT min(lease_until) FROM deliveries WHERE status = 'sending'
            UNION ALL SELECT min(created_at) FROM fanouts WHERE lease_until IS NULL
            UNION ALL SELECT min(lease_until) FROM fanouts WHERE lease_until IS NOT NULL) AS due
        """
    private static let written: [(name: String, kind: RowInsertion.Kind)] = [
        ("message_id", .text), ("device_id", .text), ("id", .text), ("platform", .text), ("status", .text),
        ("reason", .text), ("attempts", .integer), ("next_attempt_at", .integer), ("lease_until", .integer),
        ("provider_id", .text), ("updated_at", .integer),
    ]
    static let add = RowInsertions(into: "deliveries", written)
    static let save = RowInsertions(
        into: "deliveries",
        written,
        ending: """
            ON CONFLICT (message_id, device_id) DO UPDATE SET status = excluded.status, reason = excluded.reason,
                attempts = excluded.attempts, next_attempt_at = excluded.next_attempt_at,
                lease_until = excluded.lease_until, provider_id = excluded.provider_id,
                updated_at = excluded.updated_at
            WHERE deliveries.status IN ('waiting', 'sending')
            """
    )
    static let record = """
        UPDATE deliveries SET status = $3, reason = $4, attempts = $5, next_attempt_at = $6, lease_until = $7,
            provider_id = $8, updated_at = $9, redriven_at = $11
        WHERE message_id = $1 AND device_id = $2 AND status = 'sending' AND lease_until = $10
        """
    /// Two walks over two indexes, each in order and no longer than the limit.
    ///
    /// The condition is said again at the end: where a row is locked, what another has
    /// made of it meanwhile counts.
    static func due(_ dialect: Dialect) -> String {
        """
        SELECT \(columns), \(Device.columns), m.topic_id, s.push, s.delivery, s.min_priority FROM (
            SELECT * FROM (SELECT message_id, device_id, next_attempt_at AS due FROM deliveries
                WHERE status = 'waiting' AND next_attempt_at <= $1 ORDER BY next_attempt_at LIMIT $2) AS waiting
            UNION ALL
            SELECT * FROM (SELECT message_id, device_id, lease_until AS due FROM deliveries
                WHERE status = 'sending' AND lease_until <= $1 ORDER BY lease_until LIMIT $2) AS sending
            ORDER BY 3 LIMIT $2) AS due
        JOIN deliveries AS x ON x.message_id = due.message_id AND x.device_id = due.device_id
        LEFT JOIN devices AS d ON d.id = x.device_id
        LEFT JOIN messages AS m ON m.id = x.message_id
        LEFT JOIN memberships AS s ON s.topic_id = m.topic_id AND s.user_id = d.user_id
        WHERE (x.status = 'waiting' AND x.next_attempt_at <= $1 OR x.status = 'sending' AND x.lease_until <= $1)
        ORDER BY due.due, x.message_id, x.device_id\(dialect.claimLock("x"))
        """
    }

    static let claim = """
        UPDATE deliveries SET status = 'sending', lease_until = $3, updated_at = $4
        WHERE message_id = $1 AND device_id = $2
        """
    static let end = """
        UPDATE deliveries SET status = 'ended', reason = $3, next_attempt_at = NULL, lease_until = NULL, updated_at = $4
        WHERE message_id = $1 AND device_id = $2
        """
    static let dropLeases = """
        UPDATE deliveries SET status = 'waiting', lease_until = NULL, next_attempt_at = coalesce(next_attempt_at, 0)
        WHERE status = 'sending'
        """
    static let redrive = """
        UPDATE deliveries SET status = 'waiting', reason = NULL, attempts = 0, next_attempt_at = $3, lease_until = NULL,
            updated_at = $3, redriven_at = $3
        WHERE message_id = $1 AND status = $2 AND platform <> 'none' AND ($4 = '' OR reason = $4)
        """
    static let redriveOne = redrive + " AND device_id = $5"
    static let revive = """
        UPDATE devices SET active = 1, disabled_reason = NULL WHERE id = $1 AND active = 0 AND disabled_reason = $2
        """
    static let restore = """
        UPDATE deliveries SET status = 'waiting', next_attempt_at = $4, lease_until = NULL, updated_at = $4
        WHERE message_id = $1 AND device_id = $2 AND status = 'ended' AND reason = $3
        """
}

extension SQLReading {
    func deliveries(
        of message: MessageID,
        status: DeliveryStatus?,
        after: DeviceID?,
        limit: Int
    ) throws(StoreError) -> [Delivery] {
        var bindings: [SQLValue] = [.text(message.text), .text(after?.text ?? ""), .int(Int64(limit))]
        if let status { bindings.append(.text(status.rawValue)) }
        let page = (sql: status == nil ? SQL.page : SQL.pageOfStatus, bindings: bindings)
        guard status == nil || status == .skipped else {
            return try connection.all(page.sql, page.bindings, Delivery.init)
        }
        let rows = try deliveries(page, of: message) { delivery in
            after.map { $0.text.utf8.lexicographicallyPrecedes(delivery.deviceID.text.utf8) } ?? true
        }
        return Array(rows.prefix(limit))
    }

    /// The deliveries of a message that a statement answers, in order of their devices.
    ///
    /// Runs that an older version wrote stand for deliveries too. Those for which the condition
    /// holds are among the answer; it must hold for everything that the statement answers.
    func deliveries(
        _ statement: (sql: String, bindings: [SQLValue]),
        of message: MessageID,
        where isAskedFor: (Delivery) -> Bool
    ) throws(StoreError) -> [Delivery] {
        let runs = usersInRuns(of: BoundList([message.text]))
        let found = try connection.all(of: [statement, runs]) { index, row in
            index == 0 ? Delivery(row) : Delivery(ofRun: row)
        }
        // Those of runs come last.
        guard found.last?.deviceID.userWithoutDevice != nil else { return found }
        return found.filter(isAskedFor).sorted { $0.precedes($1) }
    }

    func deliverySummaries(of messages: [MessageID]) throws(StoreError) -> [MessageID: DeliverySummary] {
        var summaries: [MessageID: DeliverySummary] = [:]
        for chunk in messages.map(\.text).chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk)
            let sql = """
                SELECT message_id, status, count(*) FROM deliveries WHERE message_id IN (\(list.placeholders))
                GROUP BY message_id, status
                """
            let counts = try connection.all(of: [(sql, list.bindings), usersInRuns(of: list)]) { statement, row in
                guard statement == 0 else { return (MessageID(row.text(0)), DeliveryStatus.skipped, 1) }
                return DeliveryStatus(rawValue: row.text(1)).map { (MessageID(row.text(0)), $0, Int(row.int(2))) }
            }
            for (message, status, count) in counts {
                let shown = status == .sending ? DeliveryStatus.waiting : status
                summaries[message, default: DeliverySummary()].counts[shown, default: 0] += count
            }
            let open = "SELECT DISTINCT message_id FROM fanouts WHERE message_id IN (\(list.placeholders))"
            for message in try connection.all(open, list.bindings, { MessageID($0.text(0)) }) {
                summaries[message, default: DeliverySummary()].isFanningOut = true
            }
        }
        return summaries
    }

    func nextDue() throws(StoreError) -> Timestamp? {
        try connection.all(SQL.nextDue) { row in .some(row.optionalMoment(0)) }.first ?? nil
    }
}

extension SQLWriter {
    func add(_ deliveries: [Delivery]) throws(StoreError) {
        let insertion = SQL.add[session.dialect]
        try connection.queueInsert(insertion, rows: deliveries.count) { deliveries[$0].bind(to: $1) }
    }

    func save(_ deliveries: [Delivery]) throws(StoreError) {
        let insertion = SQL.save[session.dialect]
        // One statement cannot write a row twice.
        if insertion.listed != nil,
            Set(deliveries.map { [$0.messageID.text, $0.deviceID.text] }).count < deliveries.count
        {
            _ = try connection.runEach(insertion.single, rows: deliveries.count) { deliveries[$0].bind(to: $1) }
        } else {
            try connection.queueInsert(insertion, rows: deliveries.count) { deliveries[$0].bind(to: $1) }
        }
    }

    /// Removes the deliveries of those of these messages that are deleted.
    func removeDeliveries(ofTombstones messages: BoundList) throws(StoreError) {
        let deleted = "SELECT id FROM messages WHERE deleted = 1 AND id IN (\(messages.placeholders))"
        try connection.run("DELETE FROM deliveries WHERE message_id IN (\(deleted))", messages.bindings)
    }

    func claimDeliveries(
        now: Timestamp,
        leaseUntil: Timestamp,
        limit: Int
    ) throws(StoreError) -> [(delivery: Delivery, device: Device)] {
        let due = try connection.all(SQL.due(session.dialect), [SQLValue(now), .int(Int64(limit))]) { row in
            var device = row.isNull(12) ? nil : Device(row, at: 12)
            device?.topicWish = MembershipWish(row, at: 12 + Device.columnCount + 2)
            return Delivery(row).map { ($0, device, Self.standing(row)) }
        }
        var claimed: [(delivery: Delivery, device: Device)] = []
        for (delivery, device, standing) in due {
            let key: [SQLValue] = [.text(delivery.messageID.text), .text(delivery.deviceID.text)]
            guard var device, device.isActive else {
                try end(delivery, reason: device?.disabledReason ?? .deviceGone, now: now)
                continue
            }
            guard standing != .left else {
                try end(delivery, reason: .leftTopic, now: now)
                continue
            }
            device.isTopicMuted = standing == .muted
            try connection.run(SQL.claim, key + [SQLValue(leaseUntil), SQLValue(now)])
            var held = delivery
            held.status = .sending
            held.leaseUntil = leaseUntil
            held.updatedAt = now
            claimed.append((held, device))
        }
        let devices = try counted(claimed.map(\.device))
        return zip(claimed, devices).map { ($0.delivery, $1) }
    }

    /// How a device's owner stands to the topic now: they may have left or muted it
    /// since the delivery was made.
    private enum Standing {
        case reached, muted, left
    }

    /// Reads it behind the columns of delivery and device.
    ///
    /// Direct pushes go to whom they name, who is no member.
    private static func standing(_ row: any SQLRow) -> Standing {
        let topic = 12 + Device.columnCount
        if DirectPushService.isTopic(row.text(topic)) { return .reached }
        if row.isNull(topic + 1) { return .left }
        return row.int(topic + 1) != 0 ? .reached : .muted
    }

    private func end(_ delivery: Delivery, reason: DeliveryReason, now: Timestamp) throws(StoreError) {
        var ended = delivery
        (ended.status, ended.reason, ended.updatedAt) = (.ended, reason, now)
        (ended.nextAttemptAt, ended.leaseUntil) = (nil, nil)
        let key: [SQLValue] = [.text(delivery.messageID.text), .text(delivery.deviceID.text)]
        try connection.run(SQL.end, key + [.text(reason.rawValue), SQLValue(now)])
        note(.deliveryChanged(ended))
    }

    func record(_ delivery: Delivery, heldUntil lease: Timestamp) throws(StoreError) -> Bool {
        try connection.run(
            SQL.record,
            [
                .text(delivery.messageID.text), .text(delivery.deviceID.text), .text(delivery.status.rawValue),
                SQLValue(delivery.reason?.rawValue), .int(Int64(delivery.attempts)),
                SQLValue(delivery.storedNextAttempt), SQLValue(delivery.leaseUntil), SQLValue(delivery.providerID),
                SQLValue(delivery.updatedAt), SQLValue(lease), SQLValue(delivery.redrivenAt),
            ]
        ) > 0
    }

    func restore(_ delivery: Delivery, endedFor reason: DeliveryReason, now: Timestamp) throws(StoreError) -> Bool {
        let device = SQLValue.text(delivery.deviceID.text)
        guard try connection.run(SQL.revive, [device, .text(reason.rawValue)]) > 0 else { return false }
        let changed = try connection.run(
            SQL.restore,
            [.text(delivery.messageID.text), device, .text(reason.rawValue), SQLValue(now)]
        )
        guard changed > 0 else { return true }
        for restored in try deliveries(of: delivery.messageID, to: [delivery.deviceID]) {
            note(.deliveryChanged(restored))
        }
        return true
    }

    func dropLeases() throws(StoreError) {
        try dropFanoutLeases()
        try dropWebhookLeases()
        try connection.run(SQL.dropLeases)
    }

    func redrive(
        _ message: MessageID,
        status: DeliveryStatus,
        reason: DeliveryReason?,
        to devices: [DeviceID]?,
        now: Timestamp
    ) throws(StoreError) -> Int {
        let bindings: [SQLValue] = [
            .text(message.text), .text(status.rawValue), SQLValue(now), .text(reason?.rawValue ?? ""),
        ]
        guard let devices else { return try connection.run(SQL.redrive, bindings) }
        var count = 0
        for device in devices { count += try connection.run(SQL.redriveOne, bindings + [.text(device.text)]) }
        return count
    }
}

extension Delivery {
    /// Columns of a selection from `deliveries AS x`, as `init(_:)` reads them.
    static let columns = SQL.columns
    /// What stands for the platform where there is no device.
    fileprivate static let noPlatform = "none"

    /// Reads a delivery; nil when a value has no meaning.
    init?(_ row: any SQLRow) {
        let platform = PushPlatform(rawValue: row.text(3))
        guard let status = DeliveryStatus(rawValue: row.text(4)), platform != nil || row.text(3) == Self.noPlatform
        else { return nil }
        self.init(
            id: DeliveryID(row.text(2)),
            messageID: MessageID(row.text(0)),
            deviceID: DeviceID(row.text(1)),
            platform: platform,
            status: status,
            reason: row.optionalText(5).map(DeliveryReason.init(rawValue:)),
            attempts: Int(row.int(6)),
            nextAttemptAt: row.optionalMoment(7),
            leaseUntil: row.optionalMoment(8),
            providerID: row.optionalText(9),
            updatedAt: row.moment(10),
            redrivenAt: row.optionalMoment(11)
        )
    }

    /// The values of a row, in the order of `SQL.written`.
    fileprivate func bind(to parameters: any SQLParameters) {
        parameters.bind(messageID.text, at: 1)
        parameters.bind(deviceID.text, at: 2)
        parameters.bind(id.text, at: 3)
        parameters.bind(platform?.rawValue ?? Self.noPlatform, at: 4)
        parameters.bind(status.rawValue, at: 5)
        parameters.bind(reason?.rawValue, at: 6)
        parameters.bind(Int64(attempts), at: 7)
        parameters.bind(storedNextAttempt, at: 8)
        parameters.bind(leaseUntil, at: 9)
        parameters.bind(providerID, at: 10)
        parameters.bind(updatedAt.milliseconds, at: 11)
    }

    /// A waiting delivery is always due at some time, else nobody would ever take it up.
    fileprivate var storedNextAttempt: Timestamp? {
        status == .waiting ? nextAttemptAt ?? updatedAt : nextAttemptAt
    }
}
