import TocsinCore

/// Reads and ends of single deliveries outside the outbox's own rounds.
private enum SQL {
    static let isFanningOut = "SELECT 1 FROM fanouts WHERE message_id = $1 LIMIT 1"
    static let ofDevice = """
        SELECT \(Delivery.columns) FROM deliveries AS x
        WHERE x.device_id = $1 AND x.status IN ('waiting', 'sending')
        """
    static let ofUserInTopic = """
        SELECT \(Delivery.columns) FROM devices AS d CROSS JOIN deliveries AS x
        WHERE d.user_id = $1 AND x.device_id = d.id AND x.status IN ('waiting', 'sending')
            AND EXISTS (SELECT 1 FROM messages AS g WHERE g.id = x.message_id AND g.topic_id = $2)
        """
    private static let isSettled = "status NOT IN ('waiting', 'sending') AND updated_at <"
    /// A walk in order of the key; each row says whether its time is over.
    static func walk(_ dialect: Dialect) -> String {
        """
        SELECT message_id, device_id, \(isSettled) $3 FROM \(dialect.reapedDeliveries)
        WHERE (message_id, device_id) > ($1, $2) ORDER BY message_id, device_id LIMIT $4
        """
    }
    /// While a message has a fan-out its rows say which devices have been served.
    static let remove = """
        DELETE FROM deliveries WHERE message_id = $1 AND device_id = $2 AND \(isSettled) $3
            AND NOT EXISTS (SELECT 1 FROM fanouts AS f WHERE f.message_id = $1)
        """
    static let settle = """
        UPDATE deliveries SET status = $3, reason = $4, next_attempt_at = NULL, lease_until = NULL, updated_at = $5
        WHERE message_id = $1 AND device_id = $2
        """
}

extension SQLReading {
    func deliveries(of message: MessageID, to devices: [DeviceID]) throws(StoreError) -> [Delivery] {
        var found: [Delivery] = []
        for chunk in devices.map(\.text).chunks(of: BoundList.maximumCount) {
            let list = BoundList(chunk, firstParameter: 2)
            let sql = """
                SELECT \(Delivery.columns) FROM deliveries AS x
                WHERE x.message_id = $1 AND x.device_id IN (\(list.placeholders)) ORDER BY x.device_id
                """
            let bindings = [.text(message.text)] + list.bindings
            guard chunk.contains(where: { DeviceID($0).userWithoutDevice != nil }) else {
                found += try connection.all(sql, bindings, Delivery.init)
                continue
            }
            let named = Set(chunk)
            found += try deliveries((sql, bindings), of: message) { named.contains($0.deviceID.text) }
        }
        return found
    }

    func settledDeliveries(
        before moment: Timestamp,
        after key: DeliveryKey,
        limit: Int
    ) throws(StoreError) -> (due: [DeliveryKey], last: DeliveryKey?) {
        let seen = try connection.all(
            SQL.walk(session.dialect),
            [.text(key.message.text), .text(key.device.text), SQLValue(moment), .int(Int64(limit))]
        ) { row in
            (DeliveryKey(message: MessageID(row.text(0)), device: DeviceID(row.text(1))), row.int(2) != 0)
        }
        return (seen.filter(\.1).map(\.0), seen.count < limit ? nil : seen.last?.0)
    }

    func isFanningOut(_ message: MessageID) throws(StoreError) -> Bool {
        try connection.first(SQL.isFanningOut, [.text(message.text)]) { $0.int(0) } != nil
    }
}

extension SQLWriter {
    func endDeliveries(of device: DeviceID, reason: DeliveryReason, now: Timestamp) throws(StoreError) {
        let open = try connection.all(SQL.ofDevice + lock("x"), [.text(device.text)], Delivery.init)
        try settle(open, as: .ended, reason: reason, now: now)
    }

    func removeDeliveries(_ keys: [DeliveryKey], settledBefore moment: Timestamp) throws(StoreError) -> Int {
        // Together: a round trip for each would keep other writes waiting for ten times as long.
        try connection.runEach(SQL.remove, rows: keys.count) { row, parameters in
            parameters.bind(keys[row].message.text, at: 1)
            parameters.bind(keys[row].device.text, at: 2)
            parameters.bind(moment.milliseconds, at: 3)
        }
    }

    func settleDeliveries(
        to user: UserID,
        of topic: TopicID,
        as status: DeliveryStatus,
        reason: DeliveryReason,
        now: Timestamp
    ) throws(StoreError) {
        let open = try connection.all(
            SQL.ofUserInTopic + lock("x"),
            [.text(user.text), .text(topic.text)],
            Delivery.init
        )
        try settle(open, as: status, reason: reason, now: now)
        note(.pushesUnwanted(user, topic, reason))
    }

    private func settle(
        _ open: [Delivery],
        as status: DeliveryStatus,
        reason: DeliveryReason,
        now: Timestamp
    ) throws(StoreError) {
        for delivery in open {
            var settled = delivery
            (settled.status, settled.reason, settled.updatedAt) = (status, reason, now)
            (settled.nextAttemptAt, settled.leaseUntil) = (nil, nil)
            try connection.run(
                SQL.settle,
                [
                    .text(delivery.messageID.text), .text(delivery.deviceID.text), .text(status.rawValue),
                    .text(reason.rawValue), SQLValue(now),
                ]
            )
            note(.deliveryChanged(settled))
        }
    }
}
