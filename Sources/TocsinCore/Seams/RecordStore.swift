/// What a read may ask about records of any model.
package protocol RecordReading {
    /// The records with these ids that satisfy the predicate, in no promised order.
    func records(_ model: ModelType, ids: [String], where predicate: Predicate) throws(StoreError) -> [Record]
    /// The records of a query, in its order.
    func records(_ query: ModelQuery) throws(StoreError) -> [Record]
    /// The first records of a query, up to the one with which their texts come to so many bytes,
    /// and whether more follow it.
    ///
    /// No more than these are kept in memory on the way.
    func records(_ query: ModelQuery, upTo bytes: Int) throws(StoreError) -> (records: [Record], isCut: Bool)
    /// Pages, in the order of their queries, read together.
    ///
    /// Throws `tooLarge` when they hold more than may be read at once.
    func pages(_ queries: [PageQuery], _ limits: ExaminationLimits) throws(StoreError) -> [RecordPage]
    /// Whether an owner has this many topics, deleted ones left out.
    func hasTopics(_ count: Int, owner: String) throws(StoreError) -> Bool
    /// Names that several topics of one owner have, deleted ones left out; at most `limit`.
    func doubledTopicNames(limit: Int) throws(StoreError) -> [DoubledTopicName]
    /// Adds up the next rows of an owner in one table; answers their bytes, and where to go on, nil
    /// behind the last.
    func storedBytes(
        of owner: String,
        from start: StorageCursor,
        limit: Int
    ) throws(StoreError) -> (bytes: Int64, next: StorageCursor?)
}

/// How records of any model are written.
package protocol RecordWriting {
    /// Inserts the record unless its id is taken; then the stored record is returned and nothing is
    /// written.
    ///
    /// A conflict on another unique constraint is a `StoreError.statement`; look first.
    func insert(_ record: Record) throws(StoreError) -> Record?
    /// Holds up others who make or rename topics of this owner, until the transaction ends.
    func holdTopics(of owner: String) throws(StoreError)
    /// Replaces all values of the row with the record's id.
    func update(_ record: Record) throws(StoreError)
    /// Removes tombstones of the model that were last changed before `moment`, oldest first, with
    /// all that hangs on them; at most `limit`. Answers how many.
    func removeTombstones(_ model: ModelType, changedBefore moment: Timestamp, limit: Int) throws(StoreError) -> Int
    /// Makes the indexes that the models ask for and the database lacks, and drops those of models
    /// or fields that are gone.
    ///
    /// Answers the names of those made; to be called once at start.
    ///
    /// `note` is told before each how many of how many are made.
    func prepareIndexes(
        of models: [ModelType],
        noting note: (_ done: Int, _ of: Int) -> Void
    ) throws(StoreError) -> [String]
    /// Waits for writes that began before and have not ended, and holds up later ones until this
    /// one has ended.
    ///
    /// Then every change that cannot be seen yet will be later than a time read now.
    ///
    /// Needed where writes overlap. A database with one writer at a time does nothing; one with
    /// several takes a lock in each write group, shared. A group in which this is called is begun
    /// again with that lock for itself alone: to ask for it in the middle would make two groups
    /// wait for each other.
    func fenceChanges() throws(StoreError)
}

extension RecordWriting {
    /// Makes and drops indexes, and tells nobody how far it is.
    package func prepareIndexes(of models: [ModelType]) throws(StoreError) -> [String] {
        try prepareIndexes(of: models) { _, _ in }
    }
}

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

extension ModelTable {
    /// What a row takes beside its texts, indexes included, in bytes; roughly.
    package static let rowBytes = 256
}
