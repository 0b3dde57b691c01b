package import TocsinCore

/// Puts the table of messages into parts by month, once and for all.
///
/// The table that is there becomes the part for the rest, with its indexes; no row is copied but for those, mostly none, whose
/// ids lie in the time to come. What constraints cannot say of several parts, triggers hold: a key is once in its topic, and
/// with a message goes what refers to it. References by foreign keys would make PostgreSQL look through all deliveries
/// whenever a part goes. Numbers are handed out under the topic's row, and are once in each part.
package struct MonthConversion {
    private let connection: any SQLConnection
    private let dialect: Dialect

    /// - Parameter connection: In a transaction that writes.
    package init(_ connection: any SQLConnection, _ dialect: Dialect) {
        self.connection = connection
        self.dialect = dialect
    }

    private enum SQL {
        static let lock = "LOCK TABLE messages, fanouts, deliveries IN ACCESS EXCLUSIVE MODE"
        static let references = """
            SELECT conrelid::regclass::text, conname::text FROM pg_constraint
            WHERE confrelid = 'messages'::regclass AND contype = 'f' AND conparentid = 0
            """
        static let indexes = """
            SELECT c.relname::text, pg_get_indexdef(c.oid), (CASE WHEN i.indisunique THEN 1 ELSE 0 END)
            FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid WHERE i.indrelid = 'messages'::regclass
            """
        static let head = [
            "ALTER TABLE messages RENAME TO \(MonthParts.rest)",
            "CREATE TABLE messages (LIKE \(MonthParts.rest) INCLUDING ALL EXCLUDING INDEXES) PARTITION BY RANGE (id)",
            "ALTER TABLE messages ADD CONSTRAINT messages_pkey PRIMARY KEY (id)",
        ]
        static let triggers = """
            CREATE OR REPLACE FUNCTION messages_refuse_taken_key() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF NOT EXISTS (SELECT 1 FROM made WHERE key IS NOT NULL) THEN RETURN NULL; END IF;
                PERFORM 1 FROM topics WHERE id IN (SELECT topic_id FROM made WHERE key IS NOT NULL)
                    ORDER BY id FOR NO KEY UPDATE;
                IF EXISTS (SELECT 1 FROM made JOIN messages AS other
                    ON other.topic_id = made.topic_id AND other.key = made.key AND other.id <> made.id) THEN
                    RAISE unique_violation USING MESSAGE = 'a message of the topic has this key already';
                END IF;
                RETURN NULL;
            END $$;
            CREATE TRIGGER messages_made AFTER INSERT ON messages REFERENCING NEW TABLE AS made
                FOR EACH STATEMENT EXECUTE FUNCTION messages_refuse_taken_key();
            CREATE TRIGGER messages_changed AFTER UPDATE ON messages REFERENCING NEW TABLE AS made
                FOR EACH STATEMENT EXECUTE FUNCTION messages_refuse_taken_key();
            CREATE OR REPLACE FUNCTION messages_remove_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                DELETE FROM fanouts WHERE message_id IN (SELECT id FROM gone);
                DELETE FROM deliveries WHERE message_id IN (SELECT id FROM gone);
                RETURN NULL;
            END $$;
            CREATE TRIGGER messages_gone AFTER DELETE ON messages REFERENCING OLD TABLE AS gone
                FOR EACH STATEMENT EXECUTE FUNCTION messages_remove_outbox();
            """
    }

    /// Answers the first month; nil where messages stand in months already.
    ///
    /// Whoever reads or writes messages meanwhile waits: for the time that it takes to read all ids once.
    package func run(at now: Timestamp) throws(StoreError) -> MessageMonth? {
        guard dialect.hasPartitions else {
            throw .mismatch(reason: "SQLite keeps messages in one table; only PostgreSQL has parts by month.")
        }
        for lock in dialect.tableLock { try connection.run(lock) }
        guard try MonthParts(connection, dialect) == nil else { return nil }
        try connection.run(SQL.lock)
        let references = try connection.all(SQL.references) { ($0.text(0), $0.text(1)) }
        let indexes = try connection.all(SQL.indexes) { ($0.text(0), $0.text(1), $0.int(2) == 1) }
        let first = MessageMonth(of: now.adding(seconds: Self.slackSeconds)).next
        let after = first.next.next
        var script = references.map { "ALTER TABLE \($0) DROP CONSTRAINT \"\($1)\"" }
        script += indexes.map { "ALTER INDEX \"\($0.0)\" RENAME TO \"\(Self.name(inRest: $0.0))\"" }
        script += SQL.head
        script += indexes.filter { !$0.2 }.map(\.1)
        script += MonthParts.making(first) + MonthParts.making(first.next)
        script += MonthParts.making(MonthParts.later, from: after.firstID, to: MonthParts.end)
        script += [
            MonthParts.moving(outOf: MonthParts.rest, from: first.firstID, to: MonthParts.end),
            """
            ALTER TABLE \(MonthParts.rest) ADD CONSTRAINT \(MonthParts.rest)_ids
                CHECK (id < '\(first.firstID)' OR id >= '\(MonthParts.end)')
            """,
            "ALTER TABLE messages ATTACH PARTITION \(MonthParts.rest) DEFAULT", SQL.triggers,
        ]
        try connection.execute(script: script.joined(separator: ";\n"))
        return first
    }

    /// The first month is one that no node's clock has reached.
    private static let slackSeconds = 86_400.0

    private static func name(inRest index: String) -> String {
        let own = "messages_"
        return MonthParts.rest + "_" + (index.hasPrefix(own) ? String(index.dropFirst(own.count)) : index)
    }
}

extension SQLWriter {
    func standInMonths(at now: Timestamp) throws(StoreError) -> MessageMonth? {
        try MonthConversion(connection, session.dialect).run(at: now)
    }
}
