/// One page of `sync` that a client asks for (`docs/appsync.md`).
package struct SyncRequest: Sendable {
    /// The model that is synchronised.
    package var model: ModelType
    /// What the client asks for beside what it may read.
    package var filter: Predicate
    /// `startedAt` of the client's sync before this one, in milliseconds; nil: everything.
    package var lastSync: Int64?
    /// Records of a page at most.
    package var limit: Int
    /// Where the page before ended.
    package var position: SyncPosition?

    /// A request; `position` is nil for the first page of a chain.
    package init(model: ModelType, filter: Predicate, lastSync: Int64?, limit: Int, position: SyncPosition?) {
        self.model = model
        self.filter = filter
        self.lastSync = lastSync
        self.limit = limit
        self.position = position
    }
}

/// Where a chain of pages stands: what its first page decided, and the last record of the page.
package struct SyncPosition: Sendable, Hashable {
    /// Told on every page of the chain; nothing that commits later can be older.
    package var startedAt: Int64
    /// Changes since this time are asked for; nil: everything.
    package var since: Int64?
    /// Changes come in two runs: records made since, then records that were changed again.
    package var isAmongRevised: Bool
    /// Time and key of the last record; empty at the beginning of a run.
    package var after: [FieldValue]

    /// A position in a chain; by default at the beginning of its first run.
    package init(startedAt: Int64, since: Int64?, isAmongRevised: Bool = false, after: [FieldValue] = []) {
        self.startedAt = startedAt
        self.since = since
        self.isAmongRevised = isAmongRevised
        self.after = after
    }
}

/// One page of `sync`.
package struct SyncPage: Sendable {
    /// The records of the page, tombstones included.
    package var records: [Record]
    /// When the chain began, in milliseconds since 1970; the same on every page.
    package var startedAt: Int64
    /// nil on the last page.
    package var next: SyncPosition?
    /// Bytes of text of its records.
    package var bytes: Int
}

extension ModelService {
    /// A page of all records that the caller may read, tombstones included, or of those
    /// changed since the last sync.
    package func sync(_ request: SyncRequest, caller: Identity) async throws(ServiceError) -> SyncPage {
        let decision = seen(.sync, of: request.model, asking: [request.filter], caller)
        guard case .allow(let visible) = decision else {
            throw .unauthorized
        }
        var start: SyncPosition
        if let position = request.position { start = position } else { start = try await begin(request.lastSync) }
        guard [0, 2].contains(start.after.count) else { throw .badPageToken }
        let (position, limits) = (start, environment.limits.examination)
        let runs = SyncRuns(model: request.model, visible: visible, filter: request.filter, limit: request.limit)
        return try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            var page = try runs.page(from: position, limits, reader)
            page.records = try reader.shown(page.records, to: caller, by: .sync)
            return page
        }
    }

    /// Decides what a new chain is about.
    ///
    /// The time is read in a write of its own, behind a fence: all earlier changes are committed
    /// when this returns, and the pages are read after it. The clocks of several nodes may differ,
    /// so the time told is earlier by a margin. A row may come twice, but none is missed.
    private func begin(_ lastSync: Int64?) async throws(ServiceError) -> SyncPosition {
        let environment = environment
        let now = try await environment.store.writing { writer throws(StoreError) in
            try writer.fenceChanges()
            return .success(environment.changeTime())
        }
        let window = min(environment.models.deltaSeconds, environment.models.tombstoneSeconds)
        let oldest = now.adding(seconds: -window).milliseconds
        // A time that is still to come was told by a clock that has been set back since:
        // nothing can be built on it.
        let since = lastSync.flatMap { $0 > 0 && $0 >= oldest && $0 <= now.milliseconds ? $0 : nil }
        let startedAt = now.adding(seconds: -environment.models.clockMarginSeconds)
        return SyncPosition(startedAt: startedAt.milliseconds, since: since)
    }
}

/// The statements of a sync: one for everything, or two for changes.
///
/// A record that was never changed is found by the time it was made, which also orders lists. Only
/// changed records are in the index of changes.
private struct SyncRuns: Sendable {
    let model: ModelType
    let visible: Predicate
    let filter: Predicate
    let limit: Int

    /// The page from the position on.
    func page(
        from position: SyncPosition,
        _ limits: ExaminationLimits,
        _ reader: any StoreReader
    ) throws(StoreError) -> SyncPage {
        var (current, records, bytes) = (position, [Record](), 0)
        /// Where the last record of the first run stands.
        var turn = position
        while true {
            // Where the page is full, one record more tells whether there is another page.
            let room = max(1, limit - records.count)
            guard let query = query(current, limit: room) else {
                throw .mismatch(reason: "\(model.name) has no times of change, so it cannot be synchronised.")
            }
            let found = try reader.pages([query], limits)[0]
            let isFull = records.count >= limit
            bytes += found.bytes
            if !isFull { records += found.records }
            if isFull ? !found.records.isEmpty || found.end != nil : found.end != nil {
                if !isFull { current.after = found.end ?? [] }
                let next = isFull ? turn : current
                return SyncPage(records: records, startedAt: current.startedAt, next: next, bytes: bytes)
            }
            guard current.since != nil, !current.isAmongRevised else {
                return SyncPage(records: records, startedAt: current.startedAt, next: nil, bytes: bytes)
            }
            if let last = records.last { turn.after = [last[ModelType.makingTime], .text(last.id)] }
            (current.isAmongRevised, current.after) = (true, [])
        }
    }

    private func query(_ position: SyncPosition, limit: Int) -> PageQuery? {
        guard let key = model.keyPosition, let made = model.position(of: ModelType.makingTime),
            let revised = model.position(of: ModelType.revisionTime)
        else { return nil }
        let time = position.isAmongRevised ? revised : made
        var (range, filter) = (Predicate.always, filter)
        if let since = position.since {
            range = .field(time, .greaterOrEqual(.int(since)))
            if !position.isAmongRevised { filter = Predicate.field(revised, .exists(false)).and(filter) }
        }
        return PageQuery(
            model,
            range: range,
            visible: visible,
            filter: filter,
            order: [ModelQuery.Order(field: time), ModelQuery.Order(field: key)],
            after: position.after.isEmpty ? nil : position.after,
            limit: limit
        )
    }
}
