/// The meaning of a predicate in memory; `PredicateTranslation` in TocsinStore gives it
/// the same meaning in SQL.
extension Predicate {
    /// Whether the record satisfies the predicate where nothing is granted to anybody.
    package func matches(_ record: Record) -> Bool { matches(record) { _ in false } }

    /// Whether the record satisfies the predicate, with what grants gave at one moment.
    package func matches(_ record: Record, _ roles: GrantedRoles) -> Bool {
        matches(record) { roles.holds($0, for: record) }
    }

    /// Whether the record satisfies the predicate; `isGranted` answers what it asks of grants.
    package func matches(_ record: Record, isGranted: (GrantQuestion) -> Bool) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .all(let parts): parts.allSatisfy { $0.matches(record, isGranted: isGranted) }
        case .any(let parts): parts.contains { $0.matches(record, isGranted: isGranted) }
        case .not(let part): !part.matches(record, isGranted: isGranted)
        case .field(let position, let comparison):
            comparison.holds(for: record.values[position], of: record.model.fields[position])
        case .granted(let question): isGranted(question)
        }
    }
}

extension Comparison {
    /// Whether a stored value of this field satisfies the comparison.
    package func holds(for value: FieldValue, of field: ModelField) -> Bool {
        switch self {
        case .equal(let other): value.isEqual(to: other)
        case .notEqual(let other): !value.isEqual(to: other)
        case .less(let other): value.order(to: other).map { $0 < 0 } ?? false
        case .lessOrEqual(let other): value.order(to: other).map { $0 <= 0 } ?? false
        case .greater(let other): value.order(to: other).map { $0 > 0 } ?? false
        case .greaterOrEqual(let other): value.order(to: other).map { $0 >= 0 } ?? false
        case .between(let low, let high):
            (value.order(to: low).map { $0 >= 0 } ?? false) && (value.order(to: high).map { $0 <= 0 } ?? false)
        case .contains(let part): value.contains(part, isList: field.isList)
        case .notContains(let part): !value.contains(part, isList: field.isList)
        case .beginsWith(let prefix): value.text.map { $0.utf8.starts(with: prefix.utf8) } ?? false
        case .exists(let expected): value.isNull != expected
        case .isOneOf(let others): !value.isNull && others.contains { value.isEqual(to: $0) }
        case .isNoneOf(let others): value.isNull || !others.contains { value.isEqual(to: $0) }
        case .size(let comparison): value.text.map { comparison.holds(for: Int64($0.scalarCount)) } ?? false
        case .hasType(let name): !value.isNull && name == field.attributeType
        }
    }
}

extension SizeComparison {
    /// Whether a length satisfies the comparison.
    package func holds(for length: Int64) -> Bool {
        switch self {
        case .equal(let other): length == other
        case .notEqual(let other): length != other
        case .less(let other): length < other
        case .lessOrEqual(let other): length <= other
        case .greater(let other): length > other
        case .greaterOrEqual(let other): length >= other
        case .between(let low, let high): low <= length && length <= high
        }
    }
}

extension ModelField {
    /// The name that `attributeType` filters know the field's values by.
    package var attributeType: String {
        switch kind {
        case .text: "string"
        case .int, .double: "number"
        case .bool: "bool"
        case .json: isList ? "list" : "map"
        }
    }
}

extension FieldValue {
    /// Equality of filters: text by bytes (never by canonical equivalence, as `==` of
    /// `String` is), numbers by value.
    fileprivate func isEqual(to other: FieldValue) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.text(let left), .text(let right)), (.json(let left), .json(let right)): left.hasBytes(of: right)
        default: order(to: other) == 0
        }
    }

    /// Negative, zero or positive where the two can be ordered: texts by bytes, numbers by value.
    fileprivate func order(to other: FieldValue) -> Int? {
        switch (self, other) {
        case (.text(let left), .text(let right)): Self.byteOrder(left, right)
        case (.int(let left), .int(let right)): left < right ? -1 : (left == right ? 0 : 1)
        case (.double(let left), .double(let right)): left < right ? -1 : (left == right ? 0 : 1)
        case (.int(let left), .double(let right)): Self.order(left, right)
        case (.double(let left), .int(let right)): -Self.order(right, left)
        default: nil
        }
    }

    fileprivate func contains(_ part: String, isList: Bool) -> Bool {
        switch self {
        case .text(let text): text.containsBytes(of: part)
        case .json(let list) where isList: JSONListText(list).containsText(part)
        default: false
        }
    }

    private static func byteOrder(_ left: String, _ right: String) -> Int {
        var (left, right) = (left, right)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                for index in 0..<min(left.count, right.count) where left[index] != right[index] {
                    return left[index] < right[index] ? -1 : 1
                }
                return left.count - right.count
            }
        }
    }

    /// Exact, where a conversion to `Double` would round.
    private static func order(_ left: Int64, _ right: Double) -> Int {
        if right >= 0x1p63 { return -1 }
        if right < -0x1p63 { return 1 }
        let whole = Int64(right.rounded(.down))
        if left != whole { return left < whole ? -1 : 1 }
        return right > right.rounded(.down) ? -1 : 0
    }
}
