import JSON
import TocsinAuth
import TocsinCore
import TocsinStore

/// What an import does about what is in the database already.
package enum ImportMode: Sendable, Hashable {
    /// Refuses a database that has data.
    case empty
    /// Goes on with an import that was broken off.
    case resume
    /// Adds to what is there; rows that are there already must be the same.
    case merge
}

/// Takes a dump into a database; needs the memory of one chunk.
struct DumpImport {
    let target: DataTarget
    let mode: ImportMode
    let now: Timestamp
    let model: String
    /// What this import has begun or gone on with.
    private(set) var state: ImportState?
    private(set) var warnings: [String] = []
    private var token = DumpToken(dump: "")
    private static let recountedRows = 1_000_000
    private static let json = JSONLimits(maximumBytes: 1 << 28, maximumDepth: 16, maximumValues: 10_000)

    init(into target: DataTarget, mode: ImportMode, model: String, at now: Timestamp) {
        (self.target, self.mode, self.model, self.now) = (target, mode, model, now)
    }

    /// How a part of a dump ended.
    enum Ending: Sendable, Hashable {
        /// All of it is here and counted.
        case complete(counts: [String: Int])
        /// It was here before.
        case known
        /// The part ends without the dump's last line; the rest is to be exported behind the token,
        /// from the beginning when there is none.
        case cutOff(token: String)
    }

    /// Takes in one part: a file from its header to its end.
    mutating func run(
        _ lines: inout DumpLineReader,
        isStopped: () -> Bool,
        report: (MovingProgress) -> Void
    ) throws(StoreError) -> Ending {
        let header = try readHeader(&lines)
        guard var state = try begin(header) else { return .known }
        if !state.token.isEmpty {
            guard let known = DumpToken(text: state.token) else {
                throw .mismatch(reason: "The note of the import in the database is damaged. Begin with an empty one.")
            }
            token = known
        }
        var chunk = PendingChunk(header: header, number: header.continues)
        while let line = try lines.next() {
            if line.first == UInt8(ascii: "[") {
                try chunk.add(line, isKnown: chunk.number < state.chunk)
                continue
            }
            switch DumpLine(try Self.parse(line, lines.number)) {
            case .chunk(let rows, let digest, let end):
                let moved = try chunk.end(rows: rows, digest: digest, token: end, line: lines.number)
                guard end.chunk > state.chunk else { continue }
                try take(moved, end, &state, line: lines.number)
                let count = end.counts[end.table, default: 0]
                report(MovingProgress(table: end.table, rows: count, allRows: end.counts.values.reduce(0, +)))
                if isStopped() { throw .stopped }
            case .end(let chunks, let counts):
                try check(chunks, counts, chunk, state, line: lines.number)
                state.endedAt = now
                try target.save(state)
                return .complete(counts: counts)
            case nil: throw Self.refusal("is no line of a dump", lines.number)
            }
        }
        return .cutOff(token: state.token)
    }

    private mutating func readHeader(_ lines: inout DumpLineReader) throws(StoreError) -> DumpHeader {
        guard let first = try lines.next() else {
            throw .mismatch(reason: "The dump is empty, or ends within its first line.")
        }
        guard let header = DumpHeader(try Self.parse(first, 1)) else {
            throw .mismatch(reason: "This is no dump of format \(DumpHeader.format): its first line is another one.")
        }
        try check(header)
        if header.model != model {
            warnings.append(
                "The dump was made under another model schema. Give this server the same file (TOCSIN_SCHEMA) before it "
                    + "starts."
            )
        }
        return header
    }

    /// Refuses a dump whose rows would not fit, or not be all; one of an older version
    /// lacks what was added since.
    private func check(_ header: DumpHeader) throws(StoreError) {
        guard (target.firstFittingMigration...target.migration).contains(header.migration) else {
            throw .mismatch(
                reason:
                    "The dump is of migration \(header.migration), this program is at \(target.migration). Export with "
                    + "the version that imports, after `tocsin migrate`; or import with the version that exported."
            )
        }
        for table in header.tables {
            guard let known = MovedTable.named(table.name) else {
                throw .mismatch(reason: "The dump has a table \(table.name), which this program does not know.")
            }
            let (columns, given) = (Set(try target.columns(of: known)), Set(table.columns))
            guard given == columns || header.migration < target.migration && given.isSubset(of: columns) else {
                throw .mismatch(reason: "The dump's table \(table.name) has other columns than the database's.")
            }
        }
    }

    /// Finds or makes the note of this dump; nil: all of it is here.
    private mutating func begin(_ header: DumpHeader) throws(StoreError) -> ImportState? {
        if let other = try target.unfinished(), other.dump != header.dump {
            throw .mismatch(
                reason: "Dump \(other.dump) is here in part, and this is dump \(header.dump). Go on with that one "
                    + "(--resume), or take an empty database."
            )
        }
        if let known = try target.state(of: header.dump) {
            guard known.endedAt == nil else { return nil }
            guard mode == .resume || state != nil else {
                throw .mismatch(
                    reason: "This dump is here up to chunk \(known.chunk). Go on with `tocsin import --resume`."
                )
            }
            guard header.continues <= known.chunk else {
                throw .mismatch(
                    reason:
                        "This part begins behind chunk \(header.continues), but only \(known.chunk) are here. Import "
                        + "the part before it first."
                )
            }
            state = known
            return known
        }
        guard header.continues == 0 else {
            throw .mismatch(
                reason:
                    "This part begins behind chunk \(header.continues), and nothing of its dump is here. Import the "
                    + "part before it first."
            )
        }
        if mode != .merge, let table = try target.firstFilledTable() {
            throw .mismatch(
                reason: "The database has data already (\(table)). Take an empty one, or say --merge to add to it."
            )
        }
        let new = ImportState(dump: header.dump, merges: mode == .merge, begunAt: now)
        try target.save(new)
        state = new
        token = DumpToken(dump: header.dump)
        return new
    }

    private mutating func take(
        _ chunk: MovedChunk,
        _ end: DumpToken,
        _ state: inout ImportState,
        line: Int
    ) throws(StoreError) {
        var expected = token.counts
        expected[end.table, default: 0] += chunk.rows.count
        guard end.dump == state.dump, end.counts == expected else {
            throw Self.refusal("counts other rows than came before it; a part is missing or stands twice", line)
        }
        (state.chunk, state.token) = (end.chunk, end.text)
        try target.load(chunk, state)
        (token, self.state) = (end, state)
    }

    private func check(
        _ chunks: Int,
        _ counts: [String: Int],
        _ pending: PendingChunk,
        _ state: ImportState,
        line: Int
    ) throws(StoreError) {
        guard pending.isEmpty, chunks == pending.number, chunks == state.chunk, counts == token.counts else {
            throw Self.refusal(
                "says \(chunks) chunks and \(counts.values.reduce(0, +)) rows, but \(state.chunk) chunks and "
                    + "\(token.counts.values.reduce(0, +)) rows came",
                line
            )
        }
        guard !state.merges else { return }
        // What each chunk inserted was counted; to count the largest tables again would take
        // longer than a statement may.
        for table in MovedTable.all
        where counts[table.name, default: 0] <= Self.recountedRows && !table.maySpeakOfBefore {
            let count = try target.count(of: table)
            guard count == counts[table.name, default: 0] else {
                throw .mismatch(
                    reason:
                        "\(table.name) has \(count) rows where the dump has \(counts[table.name, default: 0]). Does "
                        + "something else write to the database? Begin again with an empty one."
                )
            }
        }
    }

    private static func parse(_ line: [UInt8], _ number: Int) throws(StoreError) -> JSONValue {
        do {
            return try JSONParser.parse(line, limits: json)
        } catch {
            throw refusal("is no JSON: \(error.message)", number)
        }
    }

    static func refusal(_ what: String, _ line: Int) -> StoreError {
        .mismatch(reason: "Line \(line) of the dump \(what). Nothing of its chunk was taken in.")
    }
}

/// The rows since the last end of a chunk.
private struct PendingChunk {
    let header: DumpHeader
    /// The last chunk that has ended.
    private(set) var number: Int
    private var lines: [[UInt8]] = []
    private var bytes: [UInt8] = []

    init(header: DumpHeader, number: Int) {
        (self.header, self.number) = (header, number)
    }

    var isEmpty: Bool { bytes.isEmpty }

    /// Takes a line; of a chunk that is here already only the bytes count.
    mutating func add(_ line: [UInt8], isKnown: Bool) throws(StoreError) {
        bytes += line
        bytes.append(UInt8(ascii: "\n"))
        if !isKnown { lines.append(line) }
        guard bytes.count < 1 << 28 else {
            throw .mismatch(reason: "Chunk \(number + 1) of the dump has no end. It was not made by `tocsin export`.")
        }
    }

    /// Checks the chunk against its last line, gives its rows, and makes room for the next.
    mutating func end(rows: Int, digest: String, token: DumpToken, line: Int) throws(StoreError) -> MovedChunk {
        guard token.chunk == number + 1 else {
            throw DumpImport.refusal("ends chunk \(token.chunk) where \(number + 1) is due", line)
        }
        guard Digest.sha256(bytes).hexadecimal == digest else {
            throw DumpImport.refusal("has a checksum that the rows before it do not have", line)
        }
        guard let table = MovedTable.named(token.table),
            let columns = header.tables.first(where: { $0.name == token.table })?.columns
        else { throw DumpImport.refusal("names a table that the header lacks", line) }
        var chunk = MovedChunk(table: table, columns: columns, rows: [])
        for (position, text) in lines.enumerated() {
            chunk.rows.append(try Self.row(text, of: token.table, columns, line: line - lines.count + position))
        }
        guard lines.isEmpty || chunk.rows.count == rows else {
            throw DumpImport.refusal("says \(rows) rows where \(chunk.rows.count) came", line)
        }
        number = token.chunk
        lines.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
        return chunk
    }

    private static func row(
        _ text: [UInt8],
        of table: String,
        _ columns: [MovedColumn],
        line: Int
    ) throws(StoreError) -> [SQLValue] {
        let limits = JSONLimits(maximumBytes: 1 << 28, maximumDepth: 2, maximumValues: 1000)
        guard let values = (try? JSONParser.parse(text, limits: limits))?.arrayValue, values.first == .string(table),
            values.count == columns.count + 1
        else { throw DumpImport.refusal("is no row of \(table)", line) }
        var row: [SQLValue] = []
        for (column, value) in zip(columns, values.dropFirst()) {
            switch (column.kind, SQLValue(json: value)) {
            case (_, .null?): row.append(.null)
            case (.text, .text(let text)?): row.append(.text(text))
            case (.integer, .int(let number)?): row.append(.int(number))
            default: throw DumpImport.refusal("has no \(column.kind.rawValue) for \(column.name)", line)
            }
        }
        return row
    }
}
