import TocsinCore

/// Deliveries that older versions did not write.
///
/// Where no member of a topic of few had a device, a row of `deviceless_runs` stands for those of
/// messages with consecutive numbers. Nothing writes such rows any more, and they go by their age.
private enum SQL {
    /// Each message's run is the last that begins at or before it, and does not end before it: by
    /// its own row, or where its topic says that it is longer.
    static func users(_ messages: String, _ dialect: Dialect) -> String {
        """
        SELECT m.id, u.value, coalesce(m.made_at, r.made_at) FROM messages AS m JOIN deviceless_runs AS r
            ON r.topic_id = m.topic_id AND r.first_number = (SELECT max(o.first_number) FROM deviceless_runs AS o
                WHERE o.topic_id = m.topic_id AND o.first_number <= m.number)
        JOIN topics AS t ON t.id = m.topic_id
        \(dialect.elements(of: "r.users", as: "u")) WHERE m.id IN (\(messages)) AND (r.last_number >= m.number
            OR t.run_first = r.first_number AND t.run_last >= m.number)
        """
    }
    static let remove = """
        DELETE FROM deviceless_runs WHERE (topic_id, first_number) IN
            (SELECT topic_id, first_number FROM deviceless_runs WHERE made_at < $1 LIMIT $2)
        """
}

extension SQLReading {
    /// Asks which members of which messages had no device when these were made, as runs
    /// say; rows come in no order.
    func usersInRuns(of messages: BoundList) -> (sql: String, bindings: [SQLValue]) {
        (SQL.users(messages.placeholders, session.dialect), messages.bindings)
    }
}

extension SQLWriter {
    func removeRuns(madeBefore moment: Timestamp, limit: Int) throws(StoreError) -> Int {
        try connection.run(SQL.remove, [SQLValue(moment), .int(Int64(limit))])
    }
}

extension Delivery {
    /// Reads a row of `usersInRuns(of:)`.
    init(ofRun row: any SQLRow) {
        self = .withoutDevice(MessageID(row.text(0)), to: UserID(row.text(1)), at: row.moment(2))
    }

    /// Whether its device's id comes before that of another, by bytes as in the database.
    func precedes(_ other: Delivery) -> Bool {
        deviceID.text.utf8.lexicographicallyPrecedes(other.deviceID.text.utf8)
    }
}
