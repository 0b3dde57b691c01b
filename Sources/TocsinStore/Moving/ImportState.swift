package import TocsinCore

/// How far a dump has been taken in.
package struct ImportState: Sendable, Hashable {
    /// The dump's id.
    package var dump: String
    /// Its last chunk that is here.
    package var chunk: Int
    /// The position behind that chunk, in the dump's own words.
    package var token: String
    /// Whether it came into a database that had data.
    package var merges: Bool
    /// When the dump's first chunk came in.
    package var begunAt: Timestamp
    /// nil: not all of it is here.
    package var endedAt: Timestamp?

    /// An import of which nothing is here yet.
    package init(dump: String, merges: Bool, begunAt: Timestamp) {
        self.dump = dump
        self.merges = merges
        self.begunAt = begunAt
        chunk = 0
        token = ""
    }

    static let columns = "dump, chunk, token, merges, begun_at, ended_at"
    static let selectionOfUnfinished = "SELECT \(columns) FROM imports WHERE ended_at IS NULL"

    init(_ row: any SQLRow) {
        dump = row.text(0)
        chunk = Int(row.int(1))
        token = row.text(2)
        merges = row.int(3) != 0
        begunAt = row.moment(4)
        endedAt = row.optionalMoment(5)
    }

    var bindings: [SQLValue] {
        [.text(dump), .int(Int64(chunk)), .text(token), SQLValue(merges), SQLValue(begunAt), SQLValue(endedAt)]
    }
}

extension SQLStore {
    /// An import that has begun and not ended: what it brings is not all here, so
    /// nobody should work with it.
    package func unfinishedImport() async throws(StoreError) -> ImportState? {
        try await reading { reader throws(StoreError) in
            try reader.connection.first(ImportState.selectionOfUnfinished, [], ImportState.init)
        }
    }
}
