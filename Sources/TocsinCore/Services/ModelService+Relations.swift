/// The records of a `@hasMany` field, for all parents of a level.
package struct RelatedQuery: Sendable {
    /// The model of the records that are asked for.
    package var model: ModelType
    /// Position of the field that holds the parents' values.
    package var field: Int
    /// What an index serves, and what is judged of each record.
    package var range: Predicate
    /// What is judged of each record in the range.
    package var filter: Predicate
    /// A total order among the records of one parent.
    package var order: [ModelQuery.Order]
    /// Where the page before ended; for one parent only.
    package var after: [FieldValue]?
    /// Records of each parent, at most.
    package var limit: Int

    /// A query of one page for each parent.
    package init(
        model: ModelType,
        field: Int,
        range: Predicate,
        filter: Predicate,
        order: [ModelQuery.Order],
        after: [FieldValue]?,
        limit: Int
    ) {
        self.model = model
        self.field = field
        self.range = range
        self.filter = filter
        self.order = order
        self.after = after
        self.limit = limit
    }
}

extension ModelService {
    /// A page of each parent's records that the caller may read, in one read.
    package func pages(
        _ related: RelatedQuery,
        of values: [FieldValue],
        caller: Identity
    ) async throws(ServiceError) -> [FieldValue: RecordPage] {
        guard case .allow(let visible) = AccessPolicy.decision(.read, on: related.model, for: caller) else {
            throw .unauthorized
        }
        let distinct = Array(Set(values.filter { !$0.isNull }))
        guard !distinct.isEmpty else { return [:] }
        let filter = shown(related.model).and(related.filter)
        let queries = distinct.map { value in
            PageQuery(
                related.model,
                range: Predicate.field(related.field, .equal(value)).and(related.range),
                visible: visible,
                filter: filter,
                order: related.order,
                after: related.after,
                limit: related.limit
            )
        }
        var limits = environment.limits.examination
        // All parents together examine about as much as one page.
        limits.rows = max(related.limit + 1, limits.rows / distinct.count)
        limits.bytes = max(1, min(limits.bytes, limits.totalBytes / 2) / distinct.count)
        let (together, each) = (queries, limits)
        let pages = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.pages(together, each)
        }
        return Dictionary(zip(distinct, pages)) { first, _ in first }
    }
}
