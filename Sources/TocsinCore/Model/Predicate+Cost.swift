/// What it takes to match a predicate: most comparisons take a moment, but some read a whole text.
extension Predicate {
    /// The positions of the fields whose whole texts are searched, each as often as it is.
    package var searchedFields: [Int] {
        switch self {
        case .always, .never: []
        case .all(let parts), .any(let parts): parts.flatMap(\.searchedFields)
        case .not(let part): part.searchedFields
        case .field(let position, let comparison): comparison.isSearch ? [position] : []
        case .granted: []
        }
    }

    /// The positions of all fields that are compared.
    var comparedFields: Set<Int> {
        switch self {
        case .always, .never: []
        case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.comparedFields) }
        case .not(let part): part.comparedFields
        case .field(let position, _): [position]
        case .granted(let question): [question.field]
        }
    }
}

extension Comparison {
    /// Whether it reads the whole of a text; the others read no more of it
    /// than they name themselves.
    fileprivate var isSearch: Bool {
        switch self {
        case .contains, .notContains, .size: true
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .beginsWith, .exists,
            .isOneOf,
            .isNoneOf, .hasType:
            false
        }
    }
}

extension Record {
    /// What all its texts have, in UTF-8.
    package var textBytes: Int { values.reduce(0) { $0 + $1.textBytes } }

    /// How many bytes a search of these fields reads at most, each as often as it is among them.
    package func searchedBytes(of fields: [Int]) -> Int { fields.reduce(0) { $0 + values[$1].textBytes } }
}
