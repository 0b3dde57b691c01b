import TocsinCore

private enum SQL {
    /// A walk along the index of what is due, with each device looked up by its key.
    ///
    /// `PushService` tells by the same marks who reaches a device.
    static let due = """
        SELECT d.platform, CASE WHEN d.kind = 'fid' OR d.token LIKE '%:%' THEN 1 ELSE 0 END,
            CASE WHEN d.token LIKE '{%' THEN 1 ELSE 0 END, count(*), min(w.next_attempt_at)
        FROM (SELECT device_id, next_attempt_at FROM deliveries
            WHERE status = 'waiting' AND next_attempt_at <= $1 ORDER BY next_attempt_at LIMIT $2) AS w
        JOIN devices AS d ON d.id = w.device_id GROUP BY 1, 2, 3
        """
    static let fanouts = """
        SELECT urgent, count(*), min(created_at) FROM (
            SELECT urgent, created_at FROM fanouts
            WHERE lease_until IS NULL ORDER BY created_at LIMIT $1) AS waiting
        GROUP BY urgent
        """
    static let devices = "SELECT platform, count(*) FROM devices WHERE active = 1 GROUP BY platform"
}

extension SQLReading {
    func pushBacklog(at now: Timestamp, limit: Int) throws(StoreError) -> PushBacklog {
        var backlog = PushBacklog()
        let due = try connection.all(SQL.due, [SQLValue(now), .int(Int64(limit))]) { row in
            PushPlatform(rawValue: row.text(0)).map { platform in
                (
                    PushBacklog.Kind(
                        platform: platform,
                        isNamedByFirebase: row.int(1) != 0,
                        isSubscription: row.int(2) != 0
                    ),
                    PushBacklog.Waiting(count: Int(row.int(3)), oldest: Timestamp(milliseconds: row.int(4)))
                )
            }
        }
        for case (let kind, let waiting)? in due { backlog.due[kind] = waiting }
        let fanouts = try connection.all(SQL.fanouts, [.int(Int64(limit))]) { row in
            let waiting = PushBacklog.Waiting(count: Int(row.int(1)), oldest: Timestamp(milliseconds: row.int(2)))
            return (row.int(0) != 0, waiting)
        }
        for (isUrgent, waiting) in fanouts { backlog.fanouts[isUrgent] = waiting }
        return backlog
    }

    func deviceCounts() throws(StoreError) -> [PushPlatform: Int] {
        let rows = try connection.all(SQL.devices, []) { row in (PushPlatform(rawValue: row.text(0)), Int(row.int(1))) }
        var counts: [PushPlatform: Int] = [:]
        for case (let platform?, let count) in rows { counts[platform] = count }
        return counts
    }
}
