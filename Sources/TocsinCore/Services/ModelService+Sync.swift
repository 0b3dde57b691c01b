/// One page of `sync` that a client asks for (appsync.md 2.9).
package struct SyncRequest: Sendable {
    package var model: ModelType
    package var filter: Predicate
    /// `startedAt` of the client's sync before this one, in milliseconds; nil: everything.
    package var lastSync: Int64?
    package var limit: Int
    /// Where the page before ended.
    package var position: SyncPosition?

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
    /// Values of the order's fields in the last record.
    package var after: [FieldValue]

    package init(startedAt: Int64, since: Int64?, after: [FieldValue]) {
        self.startedAt = startedAt
        self.since = since
        self.after = after
    }
}

/// One page of `sync`.
package struct SyncPage: Sendable {
    package var records: [Record]
    package var startedAt: Int64
    /// nil on the last page.
    package var next: SyncPosition?
}

extension ModelService {
    /// A page of all records that the caller may read, tombstones included, or of those changed since the last sync.
    package func sync(_ request: SyncRequest, caller: Identity) async throws(ServiceError) -> SyncPage {
        let model = request.model
        guard case .allow(let visible) = AccessPolicy.decision(.sync, on: model, for: caller) else {
            throw .unauthorized
        }
        guard let key = model.keyPosition, let changed = model.position(of: "_lastChangedAt") else {
            throw .internal("\(model.name) cannot be synchronised")
        }
        let start: SyncPosition
        if let position = request.position { start = position } else { start = try await begin(request.lastSync) }
        var predicate = visible.and(request.filter)
        var order = [ModelQuery.Order(field: key)]
        if let since = start.since {
            predicate = predicate.and(.field(changed, .greaterOrEqual(.int(since))))
            order.insert(ModelQuery.Order(field: changed), at: 0)
        }
        guard request.position == nil || start.after.count == order.count else { throw .badPageToken }
        let query = ModelQuery(
            model: model,
            predicate: predicate,
            order: order,
            after: request.position?.after,
            limit: request.limit + 1
        )
        var records = try await environment.store.reading { reader throws(StoreError) in try reader.records(query) }
        var next: SyncPosition?
        if records.count > request.limit {
            records.removeLast()
            next = start
            next?.after = order.map { term in records.last?.values[term.field] ?? .null }
        }
        return SyncPage(records: records, startedAt: start.startedAt, next: next)
    }

    /// Decides what a new chain is about.
    ///
    /// The time is read in a write of its own: writes come one after the other, so all that is older has been committed when
    /// this returns, and the pages read after it.
    private func begin(_ lastSync: Int64?) async throws(ServiceError) -> SyncPosition {
        let environment = environment
        let now = try await environment.store.writing { _ throws(StoreError) in .success(environment.changeTime()) }
        let window = min(environment.models.deltaSeconds, environment.models.tombstoneSeconds)
        let oldest = now.adding(seconds: -window).milliseconds
        // A time that is still to come was told by a clock that has been set back since: nothing can be built on it.
        let since = lastSync.flatMap { $0 > 0 && $0 >= oldest && $0 <= now.milliseconds ? $0 : nil }
        return SyncPosition(startedAt: now.milliseconds, since: since, after: [])
    }
}
