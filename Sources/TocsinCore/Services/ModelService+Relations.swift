/// The records of a `@hasMany` field, for all parents of a level.
package struct RelatedQuery: Sendable {
    package var model: ModelType
    /// Position of the field that holds the parents' values.
    package var field: Int
    package var predicate: Predicate
    /// A total order among the records of one parent.
    package var order: [ModelQuery.Order]
    /// Where the page before ended; for one parent only.
    package var after: [FieldValue]?
    /// Of each parent.
    package var limit: Int

    package init(
        model: ModelType,
        field: Int,
        predicate: Predicate,
        order: [ModelQuery.Order],
        after: [FieldValue]?,
        limit: Int
    ) {
        self.model = model
        self.field = field
        self.predicate = predicate
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
        let query = ModelQuery(
            model: related.model,
            predicate: visible.and(shown(related.model)).and(related.predicate),
            order: related.order,
            after: related.after,
            limit: related.limit + 1
        )
        let found = try await environment.store.reading { reader throws(StoreError) in
            try reader.records(query, of: related.field, in: distinct)
        }
        return Dictionary(grouping: found) { $0.values[related.field] }.mapValues { records in
            RecordPage(records: Array(records.prefix(related.limit)), hasMore: records.count > related.limit)
        }
    }
}
