import TocsinCore

/// A part of the ledger on PostgreSQL: the deliveries of messages whose ids
/// were made in a span of time.
///
/// Ids made by the server are UUIDs of version 7, whose texts sort by the time in their first 48
/// bits. So a range of ids is a span of time, and (message, device) stays unique over all parts.
/// Ids chosen by clients may fall anywhere, mostly into the part for the rest. So a part is dropped
/// for what is in it, not for its name.
package struct DeliveryPartition: Sendable, Hashable {
    /// Milliseconds; the end is not included.
    package let span: Range<Int64>
    private static let prefix = "deliveries_"

    /// The part for ids made in this span, in milliseconds since 1970.
    package init(span: Range<Int64>) {
        self.span = span
    }

    /// The part of this name; nil for another table, such as that of the rest.
    package init?(name: String) {
        let ends = name.dropFirst(Self.prefix.count).split(separator: "_").compactMap { Int64($0, radix: 16) }
        guard name.hasPrefix(Self.prefix), ends.count == 2, ends[0] < ends[1] else { return nil }
        span = ends[0]..<ends[1]
        guard self.name == name else { return nil }
    }

    /// The table's name.
    package var name: String { Self.prefix + Self.digits(span.lowerBound) + "_" + Self.digits(span.upperBound) }

    /// Its range of ids.
    var bounds: [SQLValue] {
        [span.lowerBound, span.upperBound].map { .text(Self.identifier(at: $0)) }
    }

    /// The lowest text of an id made at this moment.
    package static func identifier(at milliseconds: Int64) -> String {
        let digits = digits(milliseconds)
        return digits.prefix(8) + "-" + digits.suffix(4)
    }

    private static func digits(_ milliseconds: Int64) -> String {
        let digits = String(max(0, milliseconds), radix: 16)
        return String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    }

    /// The parts that are missing up to the second span after the one that is now,
    /// behind the last that is there.
    package static func missing(at now: Int64, days: Int, known: [DeliveryPartition]) -> [DeliveryPartition] {
        let length = Int64(days) * 86_400_000
        let current = now / length * length
        var start = max(current, known.map(\.span.upperBound).max() ?? current)
        var missing: [DeliveryPartition] = []
        while start < current + 3 * length {
            missing.append(DeliveryPartition(span: start..<start + length))
            start += length
        }
        return missing
    }
}

private enum SQL {
    static let partitions = """
        SELECT c.relname::text FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
        WHERE i.inhparent = to_regclass('deliveries') ORDER BY c.relname
        """
    /// Whether the rest has rows that would belong to a new part: then they, and all
    /// of that span, stay there.
    static let isTaken = "SELECT 1 FROM deliveries_rest WHERE message_id >= $1 AND message_id < $2 LIMIT 1"
    static func make(_ part: DeliveryPartition) -> String {
        """
        CREATE TABLE IF NOT EXISTS \(part.name) PARTITION OF deliveries
        FOR VALUES FROM ('\(DeliveryPartition.identifier(at: part.span.lowerBound))')
            TO ('\(DeliveryPartition.identifier(at: part.span.upperBound))')
        """
    }
    static let isUnderWay = "SELECT 1 FROM fanouts WHERE message_id >= $1 AND message_id < $2 LIMIT 1"
    /// The last row of a page behind a key; none when fewer rows are left.
    static func pageEnd(_ name: String) -> String {
        """
        SELECT message_id, device_id FROM \(name) WHERE (message_id, device_id) > ($1, $2)
        ORDER BY message_id, device_id LIMIT 1 OFFSET \(pageRows - 1)
        """
    }
    static func isRecent(_ name: String, hasEnd: Bool) -> String {
        """
        SELECT 1 FROM \(name) WHERE (message_id, device_id) > ($1, $2) AND updated_at >= $3
        \(hasEnd ? "AND (message_id, device_id) <= ($4, $5)" : "") LIMIT 1
        """
    }
    /// So few that no statement comes near its limit of time.
    private static let pageRows = 100_000
    static func isOpen(_ name: String) -> String {
        """
        SELECT 1 WHERE EXISTS (SELECT 1 FROM \(name) WHERE status = 'waiting')
            OR EXISTS (SELECT 1 FROM \(name) WHERE status = 'sending')
        """
    }
    /// Before anything is looked at or made: what comes then finds all it needs in its hands.
    static func lock(_ table: String) -> String { "LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE" }
    static let lockLimit = "SELECT current_setting('lock_timeout'), set_config('lock_timeout', '1000', true)"
    static let restoreLockLimit = "SELECT set_config('lock_timeout', $1, true)"
}

extension SQLReading {
    fileprivate func partitions() throws(StoreError) -> [DeliveryPartition] {
        try connection.all(SQL.partitions) { .some(DeliveryPartition(name: $0.text(0))) }.compactMap(\.self)
    }

    func partitionsToKeep(
        at now: Timestamp,
        spanDays: Int,
        settledBefore moment: Timestamp
    ) throws(StoreError) -> (areDue: Bool, old: [String]) {
        guard session.dialect.hasPartitions else { return (false, []) }
        let known = try partitions()
        var old: [String] = []
        for part in known where part.span.upperBound <= moment.milliseconds {
            if try !isNeeded(part, since: moment) { old.append(part.name) }
        }
        return (try !free(now, spanDays, known).isEmpty, old)
    }

    /// Whether anything in a part is open, on its way or was settled since the moment.
    private func isNeeded(_ part: DeliveryPartition, since moment: Timestamp) throws(StoreError) -> Bool {
        if try connection.first(SQL.isOpen(part.name), [], { $0.int(0) }) != nil { return true }
        if try connection.first(SQL.isUnderWay, part.bounds, { $0.int(0) }) != nil { return true }
        var next: [SQLValue]? = [.text(""), .text("")]
        while let start = next {
            next = try connection.first(SQL.pageEnd(part.name), start) { [.text($0.text(0)), .text($0.text(1))] }
            let sql = SQL.isRecent(part.name, hasEnd: next != nil)
            if try connection.first(sql, start + [SQLValue(moment)] + (next ?? []), { $0.int(0) }) != nil {
                return true
            }
        }
        return false
    }

    /// The missing parts that can be made.
    fileprivate func free(
        _ now: Timestamp,
        _ days: Int,
        _ known: [DeliveryPartition]
    ) throws(StoreError) -> [DeliveryPartition] {
        var free: [DeliveryPartition] = []
        for part in DeliveryPartition.missing(at: now.milliseconds, days: days, known: known)
        where try connection.first(SQL.isTaken, part.bounds, { $0.int(0) }) == nil {
            free.append(part)
        }
        return free
    }
}

extension SQLWriter {
    /// Does what needs a table whole, its parts included; nil where another node
    /// does such work just now.
    ///
    /// It gives up after a second where a long read, such as an export's, holds the table: the
    /// next round tries again. Others write meanwhile, as no fence is held, and the
    /// connection's limits stay.
    func holding<Value>(
        whole table: String,
        _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value? {
        guard let turn = session.dialect.partitionTurn else { return nil }
        guard try connection.first(turn, [], { $0.int(0) }) == 1 else { return nil }
        let limit = try connection.first(SQL.lockLimit) { $0.text(0) } ?? "0"
        try connection.run(SQL.lock(table))
        let value = try body()
        try connection.run(SQL.restoreLockLimit, [.text(limit)])
        return value
    }

    func keepPartitions(
        at now: Timestamp,
        spanDays: Int,
        dropping old: [String]
    ) throws(StoreError) -> PartitionUpkeep {
        let done = try holding(whole: "deliveries") { () throws(StoreError) in
            var upkeep = PartitionUpkeep()
            let known = try partitions()
            for part in try free(now, spanDays, known) {
                try connection.run(SQL.make(part))
                upkeep.made += 1
            }
            for part in known where old.contains(part.name) {
                guard try connection.first(SQL.isOpen(part.name), [], { $0.int(0) }) == nil else { continue }
                try connection.run("DROP TABLE \(part.name)")
                upkeep.dropped += 1
            }
            return upkeep
        }
        return done ?? PartitionUpkeep()
    }
}

extension Dialect {
    /// Whether the ledger stands in parts by time.
    var hasPartitions: Bool { self == .postgres }

    /// Where settled deliveries are removed one by one; other parts go as a whole.
    var reapedDeliveries: String {
        switch self {
        case .sqlite: "deliveries"
        case .postgres: "deliveries_rest"
        }
    }
}
