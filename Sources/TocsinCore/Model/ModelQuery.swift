/// A page of records of one model.
package struct ModelQuery: Sendable {
    /// One term of the order of rows.
    package struct Order: Sendable, Hashable {
        /// Position of the field.
        package var field: Int
        /// Whether small values come first.
        package var ascending: Bool

        /// A term that sorts by a field of the model.
        package init(field: Int, ascending: Bool = true) {
            self.field = field
            self.ascending = ascending
        }
    }

    /// The model whose records are asked for.
    package var model: ModelType
    /// Includes what the caller may see.
    package var predicate: Predicate
    /// A total order: the last term is unique (`id` or `number`).
    package var order: [Order]
    /// Values of the order's fields in the last row of the page before: only what comes
    /// strictly after is returned.
    package var after: [FieldValue]?
    /// At most this many rows.
    package var limit: Int

    /// A query; `order` must end with a unique field and `limit` be 1 or more.
    package init(model: ModelType, predicate: Predicate, order: [Order], after: [FieldValue]? = nil, limit: Int) {
        self.model = model
        self.predicate = predicate
        self.order = order
        self.after = after
        self.limit = limit
    }
}
