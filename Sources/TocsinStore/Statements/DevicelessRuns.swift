import TocsinCore

private enum SQL {
    /// Where a number was given once before, to a message that an operator took back, the run of the new one counts.
    static let save = RowInsertions(
        into: "deviceless_runs",
        [
            ("topic_id", .text), ("first_number", .integer), ("last_number", .integer), ("users", .text),
            ("made_at", .integer),
        ],
        ending: """
            ON CONFLICT (topic_id, first_number) DO UPDATE SET last_number = excluded.last_number,
                users = excluded.users, made_at = excluded.made_at
            """
    )
    /// Ends the run `$2` of a topic, `$1`, where the topic says that it does.
    static let end = "UPDATE deviceless_runs SET last_number = $3 WHERE topic_id = $1 AND first_number = $2"
    static let forgetOpen = "UPDATE topics SET run_first = NULL, run_last = NULL WHERE id = $1"
    /// Each message's run is the last that begins at or before it, and does not end before it: by its own row, or where its
    /// topic says that it is longer.
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
    /// One look a topic: its runs are in order of time as well as of number.
    static let topics = """
        SELECT t.id, coalesce((SELECT r.made_at FROM deviceless_runs AS r WHERE r.topic_id = t.id
            ORDER BY r.first_number LIMIT 1), $3) < $3
        FROM topics AS t WHERE t.id > $1 ORDER BY t.id LIMIT $2
        """
    /// What a topic says of a run that is gone tells nothing.
    static let remove = """
        DELETE FROM deviceless_runs WHERE topic_id = $1 AND made_at < $2 AND first_number <=
            (SELECT max(f.first_number) FROM (SELECT r.first_number FROM deviceless_runs AS r WHERE r.topic_id = $1
                ORDER BY r.first_number LIMIT $3) AS f)
        """
}

extension SQLReading {
    /// Asks which members of which messages had no device when these were made, as runs say; rows come in no order.
    func devicelessUsers(of messages: BoundList) -> (sql: String, bindings: [SQLValue]) {
        (SQL.users(messages.placeholders, session.dialect), messages.bindings)
    }

    func topicsWithOldRuns(
        madeBefore moment: Timestamp,
        after topic: TopicID,
        limit: Int
    ) throws(StoreError) -> (due: [TopicID], last: TopicID?) {
        let bindings: [SQLValue] = [.text(topic.text), .int(Int64(limit)), SQLValue(moment)]
        let seen = try connection.all(SQL.topics, bindings) { (TopicID($0.text(0)), $0.int(1) != 0) }
        return (seen.filter(\.1).map(\.0), seen.count < limit ? nil : seen.last?.0)
    }
}

extension SQLWriter {
    func save(_ runs: [DevicelessRun]) throws(StoreError) {
        var stored: [DevicelessRun] = []
        for run in runs {
            guard case .stored(let ended) = session.places.note(run) else { continue }
            stored.append(run)
            guard let ended else { continue }
            let topic = SQLValue.text(run.topicID.text)
            try connection.queue(SQL.end, [topic, .int(ended.first), .int(ended.last)])
            try connection.queue(SQL.forgetOpen, [topic])
        }
        if !stored.isEmpty { try store(stored) }
    }

    private func store(_ runs: [DevicelessRun]) throws(StoreError) {
        try connection.queueInsert(SQL.save[session.dialect], rows: runs.count) { row, parameters in
            let run = runs[row]
            parameters.bind(run.topicID.text, at: 1)
            parameters.bind(run.numbers.lowerBound, at: 2)
            parameters.bind(run.numbers.upperBound, at: 3)
            parameters.bind("[" + run.users.map { Dialect.quoted($0.text) }.joined(separator: ",") + "]", at: 4)
            parameters.bind(run.madeAt.milliseconds, at: 5)
        }
    }

    func removeRuns(
        of topics: [TopicID],
        madeBefore moment: Timestamp,
        limit: Int
    ) throws(StoreError) -> Int {
        var removed = 0
        for topic in topics where removed < limit {
            removed += try connection.run(
                SQL.remove,
                [.text(topic.text), SQLValue(moment), .int(Int64(limit - removed))]
            )
        }
        return removed
    }
}

extension Delivery {
    /// Reads a row of `devicelessUsers(of:)`.
    init(ofRun row: any SQLRow) {
        self = .withoutDevice(MessageID(row.text(0)), to: UserID(row.text(1)), at: row.moment(2))
    }

    /// Whether its device's id comes before that of another, by bytes as in the database.
    func precedes(_ other: Delivery) -> Bool {
        deviceID.text.utf8.lexicographicallyPrecedes(other.deviceID.text.utf8)
    }
}
