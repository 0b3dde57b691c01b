/// A page of records of one model.
package struct ModelQuery: Sendable {
    package struct Order: Sendable, Hashable {
        /// Position of the field.
        package var field: Int
        package var ascending: Bool

        package init(field: Int, ascending: Bool = true) {
            self.field = field
            self.ascending = ascending
        }
    }

    package var model: ModelType
    /// Includes what the caller may see.
    package var predicate: Predicate
    /// A total order: the last term is unique (`id` or `number`).
    package var order: [Order]
    /// Values of the order's fields in the last row of the page before: only what comes strictly after is returned.
    package var after: [FieldValue]?
    /// At most this many rows.
    package var limit: Int

    package init(model: ModelType, predicate: Predicate, order: [Order], after: [FieldValue]? = nil, limit: Int) {
        self.model = model
        self.predicate = predicate
        self.order = order
        self.after = after
        self.limit = limit
    }
}
