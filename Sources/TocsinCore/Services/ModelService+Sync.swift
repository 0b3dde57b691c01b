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
    /// What is told of.
    package var run: Run
    /// The topic that is told of, where a run goes by topics; empty at its beginning.
    package var topic = ""
    /// Time and key of the last record; empty at the beginning of a run, and of a topic.
    package var after: [FieldValue]

    /// Changes come in runs: records made since, records that were changed again; then, topic by
    /// topic, what was shared with the caller since, and what is so no more.
    package enum Run: Int64, Sendable, Comparable {
        case made, revised, gained, lost

        /// Whether one comes before another.
        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// A position in a chain; by default at the beginning of its first run.
    package init(startedAt: Int64, since: Int64?, run: Run = .made, after: [FieldValue] = []) {
        self.startedAt = startedAt
        self.since = since
        self.run = run
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
            var page = SyncPage(records: [], startedAt: position.startedAt, next: position, bytes: 0)
            if position.run <= .revised {
                page = try runs.page(from: position, limits, reader)
                page.records = try reader.shown(page.records, to: caller, by: .sync)
            }
            let sharing = SharingSync(runs: runs, caller: caller, limits: limits)
            if let sharing { try sharing.add(to: &page, from: position, reader) }
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
struct SyncRuns: Sendable {
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
            guard current.since != nil, current.run == .made else {
                return SyncPage(records: records, startedAt: current.startedAt, next: nil, bytes: bytes)
            }
            if let last = records.last { turn.after = [last[ModelType.makingTime], .text(last.id)] }
            (current.run, current.after) = (.revised, [])
        }
    }

    private func query(_ position: SyncPosition, limit: Int) -> PageQuery? {
        guard let key = model.keyPosition, let made = model.position(of: ModelType.makingTime),
            let revised = model.position(of: ModelType.revisionTime)
        else { return nil }
        let time = position.run == .revised ? revised : made
        var (range, filter) = (Predicate.always, filter)
        if let since = position.since {
            range = .field(time, .greaterOrEqual(.int(since)))
            if position.run == .made { filter = Predicate.field(revised, .exists(false)).and(filter) }
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
