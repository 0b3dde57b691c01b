/// A page of one model: rows that an index gives in order, each of which is judged.
///
/// A page ends early once it has examined as much as `ExaminationLimits` allows, so its cost does
/// not depend on how many rows there are.
package struct PageQuery: Sendable {
    /// The rows to examine: a range that an index serves, its order and where it begins; its
    /// limit is that of the page.
    package var rows: ModelQuery
    /// What the caller may see.
    package var visible: Predicate
    /// What the caller asks for.
    package var filter: Predicate
    /// Positions of the fields that are asked for, beside those of the order; nil for all.
    ///
    /// The others are null in the records.
    package var fields: Set<Int>?

    /// `range` is what an index serves: of all rows of an owner where it names
    /// no partition of an index.
    package init(
        _ model: ModelType,
        range: Predicate,
        visible: Predicate,
        filter: Predicate,
        order: [ModelQuery.Order],
        after: [FieldValue]?,
        limit: Int,
        fields: Set<Int>? = nil
    ) {
        let owner = model.position(of: "owner")
        let owned = model.isPartitioned(by: range) ? [] : visible.conjuncts.filter { $0.isAbout(owner) }
        let rest = owned.isEmpty ? visible : .all(visible.conjuncts.filter { !$0.isAbout(owner) })
        rows = ModelQuery(
            model: model,
            predicate: owned.reduce(range) { $0.and($1) },
            order: order,
            after: after,
            limit: limit
        )
        self.visible = rest == .all([]) ? .always : rest
        self.filter = filter
        self.fields = fields
    }

    /// Whether the caller may see either all of its rows or none, as with the messages of one
    /// topic.
    package var isOfOneOwner: Bool {
        let known = rows.model.knownPositions
        guard let topic = known.topic, let owner = known.owner,
            visible.positions == [owner] || !visible.grantQuestions.isEmpty && visible.positions == [owner, topic]
        else { return false }
        return rows.predicate.conjuncts.contains { predicate in
            if case .field(topic, .equal) = predicate { true } else { false }
        }
    }
}

/// How much one page may examine, and how much may be read at once.
package struct ExaminationLimits: Sendable, Hashable {
    /// Rows of a page.
    package var rows = 10_000
    /// Bytes of text of a page's rows.
    package var bytes = 8 * 1024 * 1024
    /// Bytes of text of all pages that are read at once.
    package var totalBytes = 16 * 1024 * 1024

    /// The documented defaults.
    package init() {}
}

/// Records of one page.
package struct RecordPage: Sendable, Hashable {
    /// The records that matched, in the order of the query.
    package var records: [Record]
    /// Where the next page begins: the order's values of the last row that was examined or is in
    /// the page; nil when there is no next page.
    package var end: [FieldValue]?
    /// Bytes of text of its records.
    package var bytes: Int

    /// A page; without `end` it is the last one.
    package init(records: [Record], end: [FieldValue]? = nil, bytes: Int = 0) {
        (self.records, self.end, self.bytes) = (records, end, bytes)
    }
}

extension ModelType {
    /// Whether the predicate names a value of the field that an index, or the key, begins with.
    ///
    /// The index of topics by name begins with their owner.
    fileprivate func isPartitioned(by predicate: Predicate) -> Bool {
        let isTopic = name == "Topic" && table.discriminator == nil
        let partitions = (indexes.map(\.partitionField) + keyFields.prefix(1))
            .filter { !isTopic || $0 != "name" }.compactMap { position(of: $0) }
        return predicate.conjuncts.contains { conjunct in
            if case .field(let position, .equal) = conjunct { partitions.contains(position) } else { false }
        }
    }
}

extension Predicate {
    /// Predicates that must all hold.
    package var conjuncts: [Predicate] {
        if case .all(let parts) = self { parts.flatMap(\.conjuncts) } else { [self] }
    }

    /// Positions of the fields that it looks at.
    package var positions: Set<Int> {
        switch self {
        case .always, .never: []
        case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.positions) }
        case .not(let part): part.positions
        case .field(let position, _): [position]
        case .granted(let question): [question.field]
        }
    }

    /// Whether it says which values this field may have.
    fileprivate func isAbout(_ field: Int?) -> Bool {
        switch self {
        case .field(field, .equal), .field(field, .isOneOf), .granted: true
        // Other alternatives than grants are judged of each row, as they are without grants.
        case .any(let parts): !grantQuestions.isEmpty && parts.allSatisfy { $0.isAbout(field) }
        default: false
        }
    }
}
