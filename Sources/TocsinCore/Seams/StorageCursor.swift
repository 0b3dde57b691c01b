/// Where adding up what an owner has stored goes on.
package struct StorageCursor: Sendable, Hashable {
    /// A table of records, and the model where it holds several.
    package var table: ModelTable
    /// Time of making and id of the last row that was added.
    package var madeAt: Int64
    /// The id of the last row that was added; empty at the beginning of a table.
    package var id: String

    /// The beginning of a table.
    package init(_ table: ModelTable) {
        self.table = table
        madeAt = .min
        id = ""
    }
}

/// What a read may ask about how much an owner has stored.
package protocol StorageReading {
    /// Adds up the next rows of an owner in one table; answers their bytes, and where to go on, nil behind the last.
    func storedBytes(
        of owner: String,
        from place: StorageCursor,
        limit: Int
    ) throws(StoreError) -> (bytes: Int64, next: StorageCursor?)
}

extension ModelTable {
    /// What a row takes beside its texts, indexes included, in bytes; roughly.
    package static let rowBytes = 256
}
