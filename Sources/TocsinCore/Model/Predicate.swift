/// A condition on a record: evaluated in memory by `matches`, translated to SQL by the
/// store, with the same meaning.
package indirect enum Predicate: Sendable, Hashable {
    case always
    case never
    case all([Predicate])
    case any([Predicate])
    case not(Predicate)
    /// The field at this position of `ModelType.fields` satisfies the comparison.
    case field(Int, Comparison)
    /// Somebody shares the topic that a field names with the caller.
    ///
    /// Only rules of access ask this, and never under a negation.
    case granted(GrantQuestion)

    /// Both conditions, without needless nesting.
    package func and(_ other: Predicate) -> Predicate {
        switch (self, other) {
        case (.always, let rest), (let rest, .always): rest
        case (.never, _), (_, .never): .never
        default: .all([self, other])
        }
    }
}

/// The operators of AppSync's filters and conditions (`docs/appsync.md`).
///
/// Text compares by bytes of UTF-8, case-sensitive; numbers by value; a missing value satisfies
/// only `notEqual`, `notContains`, `exists(false)` and `equal(.null)`.
package enum Comparison: Sendable, Hashable {
    case equal(FieldValue)
    case notEqual(FieldValue)
    case less(FieldValue)
    case lessOrEqual(FieldValue)
    case greater(FieldValue)
    case greaterOrEqual(FieldValue)
    /// Both ends included.
    case between(FieldValue, FieldValue)
    case contains(String)
    case notContains(String)
    case beginsWith(String)
    case exists(Bool)
    case isOneOf([FieldValue])
    /// None of the values; true when the value is missing.
    case isNoneOf([FieldValue])
    /// Length in Unicode scalars, compared with an integer comparison.
    case size(SizeComparison)
    /// `string`, `number`, `bool`, `list`, `map`, `_null`…
    case hasType(String)
}

/// Comparisons of a text's length.
package enum SizeComparison: Sendable, Hashable {
    case equal(Int64), notEqual(Int64), less(Int64), lessOrEqual(Int64), greater(Int64), greaterOrEqual(Int64)
    case between(Int64, Int64)
}
