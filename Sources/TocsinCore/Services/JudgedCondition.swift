/// A write's condition, and whether it held on the record as a reader saw it.
///
/// Searching long texts takes longer than all else a write does, and every other write waits
/// meanwhile. So the search is done before the write, on a reader. Inside the write group its
/// result still counts if the compared fields have the same bytes; if not, they are searched again,
/// within `maximumBytes`.
package struct JudgedCondition: Sendable {
    private let condition: Predicate
    private let searchedFields: [Int]
    /// Bytes that all its searches together may read.
    private let maximumBytes: Int
    /// The fields compared as they were read, and whether the condition held.
    private var judgement: (values: [Int: FieldValue], holds: Bool)?

    /// A condition that no record has been held against yet; `maximumBytes` bounds the text it may
    /// search.
    package init(_ condition: Predicate, maximumBytes: Int) {
        self.condition = condition
        self.maximumBytes = maximumBytes
        searchedFields = condition.searchedFields
    }

    /// Whether it takes time to judge, so that judging it on a reader is worth it.
    package var isSearch: Bool { !searchedFields.isEmpty }

    /// Judges it on a record that may have changed when the write is made.
    package mutating func judge(_ record: Record) {
        guard isWithinBound(record) else { return }
        let values = condition.comparedFields.map { ($0, record.values[$0]) }
        judgement = (Dictionary(uniqueKeysWithValues: values), condition.matches(record))
    }

    /// Why a write to the record as it is stored now is refused; nil where the condition holds.
    package func refusal(of stored: Record) -> ServiceError? {
        if let judgement, judgement.values.allSatisfy({ stored.values[$0.key].hasBytes(of: $0.value) }) {
            return judgement.holds ? nil : .conditionFailed(stored)
        }
        guard isWithinBound(stored) else {
            let bytes = stored.searchedBytes(of: searchedFields)
            return .limit(
                "The condition would search \(bytes) bytes of the stored texts; at most \(maximumBytes) are allowed. Use "
                    + "fewer comparisons by contains, notContains and size, or compare shorter fields."
            )
        }
        return condition.matches(stored) ? nil : .conditionFailed(stored)
    }

    private func isWithinBound(_ record: Record) -> Bool {
        !isSearch || record.searchedBytes(of: searchedFields) <= maximumBytes
    }
}
