import TocsinCore

/// One page while it is read: chunks of rows, in order, each row judged, until the page is
/// full or has examined enough.
struct PageReading {
    private let query: PageQuery
    private let limits: ExaminationLimits
    private let statements: ModelStatements
    private let judged: Predicate
    /// What each row brings an answer to, behind the values of its fields.
    private let questions: [GrantQuestion]
    /// Positions of the fields that are looked at before a row is read whole.
    private let tested: [Int]
    /// Whether the value of each field is asked for.
    private let wanted: [Bool]
    private var probe: Record
    private var records: [Record] = []
    /// The order's values of the last row examined, where one more chunk or
    /// page may begin behind it.
    private var last: [FieldValue]?
    private var seen = (rows: 0, bytes: 0, visible: false)
    /// Bytes of text of the records that it keeps.
    private var kept = 0
    /// Rows asked for by the present chunk, and those that came.
    private var chunk = (limit: 0, rows: 0)
    private(set) var isDone = false
    private var hasMore = false

    /// Rows of a chunk at most.
    ///
    /// Some databases hand over all rows of a statement at once, a message may have 256 KiB, and a
    /// record of another model as much as a request.
    private let largestChunk: Int

    init(_ query: PageQuery, _ limits: ExaminationLimits, _ statements: ModelStatements) {
        (self.query, self.limits, self.statements) = (query, limits, statements)
        judged = query.visible.and(query.filter)
        tested = judged.positions.sorted()
        questions = query.visible.grantQuestions
        let order = query.rows.order.map(\.field)
        wanted = query.rows.model.fields.indices.map { query.fields?.contains($0) ?? true || order.contains($0) }
        probe = Record(model: query.rows.model)
        isDone = judged == .never
        largestChunk = query.rows.model.table.discriminator == nil ? 128 : 32
    }

    /// Bytes of text that it has examined.
    var bytes: Int { seen.bytes }

    /// The statement of the next chunk.
    mutating func nextChunk() -> SQLBuilder {
        // What is judged is seldom found at once; without a filter each row is one of the page.
        var size = seen.rows == 0 || tested.isEmpty ? query.rows.limit + 1 - records.count : largestChunk
        if seen.rows > 0 { size = min(size, (limits.bytes - seen.bytes) / max(1, seen.bytes / seen.rows)) }
        chunk = (max(1, min(size, largestChunk, limits.rows - seen.rows)), 0)
        var rows = query.rows
        rows.limit = chunk.limit
        rows.after = last ?? rows.after
        return PageStatement.make(rows, statements, asking: questions)
    }

    /// Takes a row of the chunk; what comes when the page is done is left out.
    mutating func take(_ row: any SQLRow) {
        chunk.rows += 1
        guard !isDone else { return }
        if seen.rows >= limits.rows || seen.bytes >= limits.bytes {
            hasMore = true
            isDone = true
            return
        }
        seen.rows += 1
        let bytes = statements.textBytes(of: row)
        seen.bytes += bytes
        if let record = record(row) {
            guard records.count < query.rows.limit else {
                // One more than the page takes: the next one begins behind the page's last.
                hasMore = true
                isDone = true
                last = records.last.map { found in query.rows.order.map { found.values[$0.field] } } ?? last
                return
            }
            records.append(record)
            kept += bytes
        }
        let isLast = chunk.rows == chunk.limit || seen.rows >= limits.rows || seen.bytes >= limits.bytes
        if isLast { last = query.rows.order.map { statements.value(at: $0.field, of: row) } }
    }

    /// Ends a chunk whose rows have all been taken.
    mutating func endChunk() {
        guard !isDone else { return }
        if chunk.rows < chunk.limit {
            isDone = true
        } else if seen.rows >= limits.rows || seen.bytes >= limits.bytes {
            (isDone, hasMore) = (true, true)
        }
    }

    /// The page.
    var page: RecordPage {
        let isForeign = !seen.visible && query.isOfOneOwner
        return RecordPage(records: records, end: hasMore && !isForeign ? last : nil, bytes: kept)
    }

    /// The record, if it is visible and asked for.
    private mutating func record(_ row: any SQLRow) -> Record? {
        for position in tested { probe.values[position] = statements.value(at: position, of: row) }
        guard isVisible(row) else { return nil }
        seen.visible = true
        return query.filter.matches(probe) ? statements.record(row, only: wanted) : nil
    }

    /// Whether the caller may see the row whose tested values are in `probe`.
    private func isVisible(_ row: any SQLRow) -> Bool {
        guard !questions.isEmpty else { return query.visible.matches(probe) }
        let first = probe.values.count
        return query.visible.matches(probe) { question in
            questions.firstIndex(of: question).map { row.int(first + $0) != 0 } ?? false
        }
    }
}

extension SQLReading {
    func pages(_ queries: [PageQuery], _ limits: ExaminationLimits) throws(StoreError) -> [RecordPage] {
        var readings: [PageReading] = []
        for query in queries {
            readings.append(PageReading(query, limits, try session.statements(for: query.rows.model)))
        }
        while true {
            let open = readings.indices.filter { !readings[$0].isDone }
            guard !open.isEmpty else { break }
            let chunks = open.map { readings[$0].nextChunk() }.map { (sql: $0.text, bindings: $0.bindings) }
            var total = readings.reduce(0) { $0 + $1.bytes }
            try connection.runTogether(chunks) { chunk, row in
                // Whoever asked for so much is refused below.
                guard total <= limits.totalBytes else { return }
                let before = readings[open[chunk]].bytes
                readings[open[chunk]].take(row)
                total += readings[open[chunk]].bytes - before
            }
            guard total <= limits.totalBytes else { throw .tooLarge(bytes: limits.totalBytes) }
            for index in open { readings[index].endChunk() }
        }
        return readings.map(\.page)
    }
}
