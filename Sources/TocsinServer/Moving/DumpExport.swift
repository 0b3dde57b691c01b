import JSON
import TocsinAuth
import TocsinCore
import TocsinStore

/// How many rows of which table have passed.
package struct MovingProgress: Sendable, Hashable {
    /// The table that is being moved.
    package var table: String
    /// Its rows that have passed.
    package var rows: Int
    /// Its rows in all.
    package var allRows: Int
}

/// How large a chunk may grow; what ends first ends it.
package struct ChunkLimits: Sendable, Hashable {
    /// Rows of a chunk at most.
    package var rows = 1000
    /// Bytes of a chunk, about.
    package var bytes = 1 << 20

    /// The documented defaults.
    package init() {}
}

/// Writes all data of a snapshot as a dump; needs the memory of one chunk and one page of rows.
struct DumpExport {
    let snapshot: DataSnapshot
    var header: DumpHeader
    let limits: ChunkLimits
    let write: ([UInt8]) throws(StoreError) -> Void
    private static let pageRows = 250

    /// Writes the dump, or the rest of one behind a token; throws `stopped`
    /// when `isStopped` says so.
    mutating func run(
        after start: DumpToken?,
        isStopped: () -> Bool,
        report: (MovingProgress) -> Void
    ) throws(StoreError) {
        var token = start ?? DumpToken(dump: header.dump)
        (header.dump, header.continues) = (token.dump, token.chunk)
        try write(header.json.serialized() + [UInt8(ascii: "\n")])
        let isBehind = MovedTable.all.firstIndex { $0.name == token.table } ?? 0
        for (table, described) in zip(MovedTable.all, header.tables).dropFirst(isBehind) {
            if token.table != table.name { (token.table, token.key) = (table.name, []) }
            try export(table, described.columns, &token, isStopped, report)
        }
        try write(DumpLine.end(chunks: token.chunk, counts: token.counts).json.serialized() + [UInt8(ascii: "\n")])
    }

    private func export(
        _ table: MovedTable,
        _ columns: [MovedColumn],
        _ token: inout DumpToken,
        _ isStopped: () -> Bool,
        _ report: (MovingProgress) -> Void
    ) throws(StoreError) {
        let keyColumns = table.key.compactMap { name in columns.firstIndex { $0.name == name } }
        var chunk = JSONWriter(capacity: limits.bytes)
        var rows = 0
        func endChunk() throws(StoreError) {
            guard rows > 0 else { return }
            token.chunk += 1
            token.counts[table.name, default: 0] += rows
            let digest = Digest.sha256(chunk.bytes).hexadecimal
            chunk.value(DumpLine.chunk(rows: rows, digest: digest, token: token).json)
            chunk.byte(UInt8(ascii: "\n"))
            try write(chunk.bytes)
            chunk.truncate(to: 0)
            rows = 0
            let count = token.counts[table.name, default: 0]
            report(MovingProgress(table: table.name, rows: count, allRows: token.counts.values.reduce(0, +)))
            if isStopped() { throw .stopped }
        }
        var page: [[SQLValue]]
        repeat {
            page = try snapshot.rows(
                of: table,
                columns,
                after: token.key.isEmpty ? nil : token.key,
                limit: Self.pageRows
            )
            for row in page {
                Self.write(row, of: table, to: &chunk)
                token.key = keyColumns.map { row[$0] }
                rows += 1
                if rows >= limits.rows || chunk.count >= limits.bytes { try endChunk() }
            }
        } while page.count == Self.pageRows
        try endChunk()
    }

    private static func write(_ row: [SQLValue], of table: MovedTable, to chunk: inout JSONWriter) {
        chunk.byte(UInt8(ascii: "["))
        chunk.string(table.name)
        for value in row {
            chunk.byte(UInt8(ascii: ","))
            chunk.value(value.json)
        }
        chunk.byte(UInt8(ascii: "]"))
        chunk.byte(UInt8(ascii: "\n"))
    }
}

extension [UInt8] {
    /// Two digits a byte, in lower case.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
