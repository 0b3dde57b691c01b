import TocsinCore

private enum SQL {
    static let columns = "instance, name, key_mark, wants_deliveries, started_at, seen_at"
    static let seen = "SELECT \(columns) FROM nodes WHERE seen_at >= $1 ORDER BY name, instance"
    static let duties = "SELECT name FROM duties WHERE node = $1 AND lease_until > $2 ORDER BY name"
    static let save = """
        INSERT INTO nodes (\(columns)) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (instance) DO UPDATE SET wants_deliveries = excluded.wants_deliveries, seen_at = excluded.seen_at
        """
    static let remove = "DELETE FROM nodes WHERE instance = $1"
    static let endLeases = "DELETE FROM duties WHERE node = $1"
    static let removeOld = "DELETE FROM nodes WHERE seen_at < $1"
    static let takeLease = """
        INSERT INTO duties (name, node, lease_until) VALUES ($1, $2, $3)
        ON CONFLICT (name) DO UPDATE SET node = excluded.node, lease_until = excluded.lease_until
            WHERE duties.node = excluded.node OR duties.lease_until <= $4
        """
    static let removeJournal = """
        DELETE FROM node_events WHERE made_at < $1 AND (xid, id) IN
            (SELECT xid, id FROM node_events ORDER BY xid, id LIMIT $2)
        """
}

extension SQLReading {
    func nodes(seenSince moment: Timestamp) throws(StoreError) -> [NodeEntry] {
        try connection.all(SQL.seen, [SQLValue(moment)]) { row in
            var node = NodeEntry(
                instance: row.text(0),
                name: row.text(1),
                keyMark: row.text(2),
                startedAt: row.moment(4)
            )
            node.wantsDeliveries = row.int(3) != 0
            node.seenAt = row.moment(5)
            return node
        }
    }
}

extension SQLReading {
    func duties(of node: String, at now: Timestamp) throws(StoreError) -> [String] {
        try connection.all(SQL.duties, [.text(node), SQLValue(now)]) { $0.text(0) }
    }
}

extension SQLWriter {
    func save(_ node: NodeEntry) throws(StoreError) {
        try connection.run(
            SQL.save,
            [
                .text(node.instance), .text(node.name), .text(node.keyMark), SQLValue(node.wantsDeliveries),
                SQLValue(node.startedAt), SQLValue(node.seenAt),
            ]
        )
    }

    func removeNode(instance: String) throws(StoreError) {
        try connection.run(SQL.remove, [.text(instance)])
        try connection.run(SQL.endLeases, [.text(instance)])
    }

    func removeNodes(seenBefore moment: Timestamp) throws(StoreError) {
        try connection.run(SQL.removeOld, [SQLValue(moment)])
    }

    func takeLease(_ name: String, node: String, now: Timestamp, until lease: Timestamp) throws(StoreError) -> Bool {
        try connection.run(SQL.takeLease, [.text(name), .text(node), SQLValue(lease), SQLValue(now)]) > 0
    }

    func removeJournal(before moment: Timestamp, limit: Int) throws(StoreError) -> Int {
        try connection.run(SQL.removeJournal, [SQLValue(moment), .int(Int64(limit))])
    }
}
