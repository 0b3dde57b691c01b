import TocsinCore

/// Devices and memberships that ended while fan-outs were waiting that owe them an outcome.
///
/// A member's device that was active when a message was committed gets a delivery row, whatever
/// becomes of it before its page is served. So an ended device is noted with the time of the newest
/// fan-out that waits. Later fan-outs do not concern it, and where none waits nothing is noted.
private enum SQL {
    static func fanouts(_ function: String) -> String {
        """
        (SELECT \(function)(moment) AS moment FROM (
            SELECT \(function)(created_at) AS moment FROM fanouts WHERE lease_until IS NULL
            UNION ALL SELECT \(function)(created_at) FROM fanouts WHERE lease_until IS NOT NULL) AS each)
        """
    }

    static let newest = fanouts("max")
    static let topic = "SELECT 1 FROM topics AS t WHERE t.id = $1"
    static let topicsOfDevice = """
        SELECT 1 FROM topics AS t WHERE t.id IN (SELECT m.topic_id FROM memberships AS m
            WHERE m.user_id = (SELECT d.user_id FROM devices AS d WHERE d.id = $1)) ORDER BY t.id
        """
    static let noteDevice = """
        INSERT INTO ended_devices (id, user_id, platform, reason, active_since, last_fanout)
        SELECT d.id, d.user_id, d.platform, $2, d.active_since, newest.moment FROM devices AS d, \(newest) AS newest
        WHERE d.id = $1 AND d.active = 1 AND d.registered_at <= $3 AND d.active_since <= newest.moment
        ON CONFLICT (last_fanout, id, active_since) DO NOTHING
        """
    static let noteMembership = """
        INSERT INTO ended_memberships (topic_id, user_id, created_at, last_fanout, reason)
        SELECT m.topic_id, m.user_id, m.created_at, newest.moment, $3 FROM memberships AS m, \(newest) AS newest
        WHERE m.topic_id = $1 AND m.user_id = $2 AND m.created_at <= newest.moment
        ON CONFLICT (topic_id, user_id, created_at) DO NOTHING
        """
    static let purges = ["ended_devices", "ended_memberships"].map { table in
        "DELETE FROM \(table) WHERE last_fanout < coalesce(\(fanouts("min")), \(Int64.max))"
    }
    /// Ended devices of people who were members, and active devices of people who left.
    ///
    /// `e.id` is made an expression so that ended devices are sought by fan-out: those of past
    /// ones may still be noted.
    static let devices = """
        SELECT e.id, e.user_id, e.platform, e.reason FROM ended_devices AS e
        WHERE e.last_fanout >= $5 AND e.active_since <= $5 AND \(range("(e.id || '')"))
            AND (EXISTS (SELECT 1 FROM memberships AS m
                    WHERE m.topic_id = $1 AND m.user_id = e.user_id AND m.created_at <= $5)
                OR EXISTS (SELECT 1 FROM ended_memberships AS l WHERE l.topic_id = $1 AND l.user_id = e.user_id
                    AND l.created_at <= $5 AND l.last_fanout >= $5))
        UNION ALL
        SELECT d.id, d.user_id, d.platform, coalesce(l.reason, 'LEFT_TOPIC') FROM ended_memberships AS l CROSS JOIN devices AS d
        WHERE l.topic_id = $1 AND l.last_fanout >= $5 AND l.created_at <= $5 AND d.user_id = l.user_id
            AND d.active = 1 AND d.active_since <= $5 AND \(range("d.id"))
        ORDER BY 1 LIMIT $7
        """

    /// The part of the fan-out that is still to be served.
    private static func range(_ id: String) -> String {
        """
        \(id) > $2 AND \(id) >= $3 AND ($4 = '' OR \(id) < $4)
            AND NOT EXISTS (SELECT 1 FROM deliveries AS x WHERE x.message_id = $6 AND x.device_id = \(id))
        """
    }
}

extension SQLReading {
    /// Devices that were in a fan-out's audience at its commit and are no more, by id;
    /// inactive and without a token.
    ///
    /// `bindings` are those of the statement for the devices that still are.
    func endedDevices(_ bindings: [SQLValue]) throws(StoreError) -> [Device] {
        try connection.all(SQL.devices, bindings) { row in
            PushPlatform(rawValue: row.text(2)).map { platform in
                Device(
                    id: DeviceID(row.text(0)),
                    userID: UserID(row.text(1)),
                    platform: platform,
                    environment: nil,
                    appID: "",
                    token: "",
                    name: nil,
                    isActive: false,
                    disabledReason: DeliveryReason(rawValue: row.text(3)),
                    registeredAt: Timestamp(milliseconds: 0),
                    lastSeenAt: Timestamp(milliseconds: 0)
                )
            }
        }
    }
}

extension SQLWriter {
    /// To be called before a device that was registered by `moment` is removed or retired.
    func noteEnd(of device: DeviceID, reason: DeliveryReason, registeredBy moment: Timestamp?) throws(StoreError) {
        try lockTopics(ofDevice: device)
        try purgeEndings()
        try connection.run(
            SQL.noteDevice,
            [.text(device.text), .text(reason.rawValue), .int(moment?.milliseconds ?? .max)]
        )
    }

    /// To be called before a membership is removed.
    func noteEnd(ofMembershipOf user: UserID, in topic: TopicID, reason: DeliveryReason) throws(StoreError) {
        let lock = lock("t")
        if !lock.isEmpty { try connection.run(SQL.topic + lock, [.text(topic.text)]) }
        try purgeEndings()
        let told: SQLValue = reason == .leftTopic ? .null : .text(reason.rawValue)
        try connection.run(SQL.noteMembership, [.text(topic.text), .text(user.text), told])
    }

    /// Waits for messages under way to the device's topics: a message that is committed first
    /// has its fan-out in sight.
    private func lockTopics(ofDevice device: DeviceID) throws(StoreError) {
        let lock = lock("t")
        if !lock.isEmpty { try connection.run(SQL.topicsOfDevice + lock, [.text(device.text)]) }
    }

    /// Forgets what no waiting fan-out is old enough to concern.
    private func purgeEndings() throws(StoreError) {
        for purge in SQL.purges { try connection.run(purge) }
    }
}
