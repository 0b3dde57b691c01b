import TocsinCore

/// Text and bindings of a statement under construction.
struct SQLBuilder {
    var text = ""
    private(set) var bindings: [SQLValue] = []

    /// Binds a value; answers its placeholder.
    mutating func bind(_ value: SQLValue) -> String {
        bindings.append(value)
        return "$\(bindings.count)"
    }

    mutating func bind(stored value: FieldValue) -> String { bind(ModelStatements.value(value)) }
}

/// Translates predicates into conditions with the meaning of `Predicate.matches`.
///
/// SQL has three truth values and a predicate two. An unknown condition counts as false, except
/// under a negation. So negations are pushed down to the comparisons, and only negated comparisons
/// are made two-valued (`IS NOT TRUE`). All others keep the plain form, which indexes serve.
struct PredicateTranslation {
    let statements: ModelStatements
    var builder: SQLBuilder
    /// What all rows have in a field that names their topic.
    var topics: [Int: String] = [:]

    mutating func condition(_ predicate: Predicate, negated: Bool = false) -> String {
        switch predicate {
        case .always: return negated ? "FALSE" : "TRUE"
        case .never: return negated ? "TRUE" : "FALSE"
        case .all(let parts): return joined(parts, by: negated ? " OR " : " AND ", empty: !negated, negated)
        case .any(let parts): return joined(parts, by: negated ? " AND " : " OR ", empty: negated, negated)
        case .not(let part): return condition(part, negated: !negated)
        case .field(let position, let comparison):
            let text = self.comparison(comparison, position)
            return negated ? "(\(text)) IS NOT TRUE" : text
        case .granted(let question):
            let text = granted(question)
            return negated ? "(\(text)) IS NOT TRUE" : text
        }
    }

    /// Whether the topic in a field is shared with the caller now: a selection of the caller's
    /// topics, or of the one topic that all rows are of.
    mutating func granted(_ question: GrantQuestion) -> String {
        let subjects = BoundList(question.subjects.map(\.text)).bindings.map { builder.bind($0) }
        guard !subjects.isEmpty else { return "FALSE" }
        let condition = """
            g.subject IN (\(subjects.joined(separator: ", ")))
            AND g.roles & \(builder.bind(.int(question.need.rawValue))) <> 0
            AND (g.expires_at IS NULL OR g.expires_at > \(statements.dialect.moment))
            """
        if let topic = topics[question.field] {
            let id = builder.bind(SQLValue.text(topic))
            return "EXISTS (SELECT 1 FROM topic_grants AS g WHERE g.topic_id = \(id) AND \(condition))"
        }
        let field = statements.expressions[question.field]
        return "\(field) IN (SELECT g.topic_id FROM topic_grants AS g WHERE \(condition))"
    }

    private mutating func joined(_ parts: [Predicate], by word: String, empty: Bool, _ negated: Bool) -> String {
        guard !parts.isEmpty else { return empty ? "TRUE" : "FALSE" }
        var texts: [String] = []
        for part in parts { texts.append(condition(part, negated: negated)) }
        return texts.count == 1 ? texts[0] : "(\(texts.joined(separator: word)))"
    }

    /// A condition that is true exactly when the comparison holds; false or unknown otherwise.
    private mutating func comparison(_ comparison: Comparison, _ position: Int) -> String {
        let field = statements.model.fields[position]
        let value = statements.expressions[position]
        switch comparison {
        case .equal(let other): return equality(field, value, other)
        case .notEqual(let other): return "(\(equality(field, value, other))) IS NOT TRUE"
        case .less(let other): return ordering(field, value, "<", other)
        case .lessOrEqual(let other): return ordering(field, value, "<=", other)
        case .greater(let other): return ordering(field, value, ">", other)
        case .greaterOrEqual(let other): return ordering(field, value, ">=", other)
        case .between(let low, let high):
            return "(\(ordering(field, value, ">=", low)) AND \(ordering(field, value, "<=", high)))"
        case .contains(let part): return containment(field, value, part)
        case .notContains(let part): return "(\(containment(field, value, part))) IS NOT TRUE"
        case .beginsWith(let prefix): return field.kind == .text ? beginning(value, prefix) : "FALSE"
        case .exists(let expected): return value + (expected ? " IS NOT NULL" : " IS NULL")
        case .isOneOf(let others): return membership(field, value, others)
        case .isNoneOf(let others): return "(\(membership(field, value, others))) IS NOT TRUE"
        case .size(let comparison): return field.kind == .text ? length(value, comparison) : "FALSE"
        case .hasType(let name): return name == field.attributeType ? value + " IS NOT NULL" : "FALSE"
        }
    }

    private mutating func equality(_ field: ModelField, _ value: String, _ other: FieldValue) -> String {
        if other.isNull { return value + " IS NULL" }
        guard field.kind.isEquatable(to: other) else { return "FALSE" }
        return "\(value) = \(builder.bind(stored: other))"
    }

    private mutating func ordering(_ field: ModelField, _ value: String, _ sign: String, _ other: FieldValue) -> String
    {
        guard field.kind.isComparable(to: other) else { return "FALSE" }
        return "\(value) \(sign) \(builder.bind(stored: other))"
    }

    private mutating func membership(_ field: ModelField, _ value: String, _ others: [FieldValue]) -> String {
        let placeholders = others.filter { field.kind.isEquatable(to: $0) }.map { builder.bind(stored: $0) }
        guard !placeholders.isEmpty else { return "FALSE" }
        return "\(value) IN (\(placeholders.joined(separator: ", ")))"
    }

    private mutating func containment(_ field: ModelField, _ value: String, _ part: String) -> String {
        switch field.kind {
        case .text: statements.dialect.containment(of: builder.bind(.text(part)), in: value)
        case .json where field.isList: statements.dialect.membership(of: builder.bind(.text(part)), inList: value)
        case .json, .int, .double, .bool: "FALSE"
        }
    }

    /// The range of texts with a prefix, which an index can serve.
    private mutating func beginning(_ value: String, _ prefix: String) -> String {
        guard !prefix.isEmpty else { return value + " IS NOT NULL" }
        let lower = "\(value) >= \(builder.bind(.text(prefix)))"
        guard let end = prefix.endOfPrefixRange else { return lower }
        return "(\(lower) AND \(value) < \(builder.bind(SQLValue.text(end))))"
    }

    private mutating func length(_ value: String, _ comparison: SizeComparison) -> String {
        switch comparison {
        case .equal(let other): "length(\(value)) = \(builder.bind(.int(other)))"
        case .notEqual(let other): "length(\(value)) <> \(builder.bind(.int(other)))"
        case .less(let other): "length(\(value)) < \(builder.bind(.int(other)))"
        case .lessOrEqual(let other): "length(\(value)) <= \(builder.bind(.int(other)))"
        case .greater(let other): "length(\(value)) > \(builder.bind(.int(other)))"
        case .greaterOrEqual(let other): "length(\(value)) >= \(builder.bind(.int(other)))"
        case .between(let low, let high):
            "length(\(value)) BETWEEN \(builder.bind(.int(low))) AND \(builder.bind(.int(high)))"
        }
    }
}

extension ModelField.Kind {
    /// Whether a stored value of this kind can be equal to the other: databases convert texts
    /// to numbers, we never do.
    fileprivate func isEquatable(to other: FieldValue) -> Bool {
        switch (self, other) {
        case (.bool, .bool), (.json, .json): true
        default: isComparable(to: other)
        }
    }

    fileprivate func isComparable(to other: FieldValue) -> Bool {
        switch (self, other) {
        case (.text, .text), (.int, .int), (.int, .double), (.double, .int), (.double, .double): true
        default: false
        }
    }
}

extension String {
    /// The least text that is greater than all texts with this prefix, by bytes of
    /// UTF-8; nil when there is none.
    fileprivate var endOfPrefixRange: String? {
        var scalars = Array(unicodeScalars)
        while let last = scalars.popLast() {
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            if let scalar = UnicodeScalar(next) {
                var view = UnicodeScalarView(scalars)
                view.append(scalar)
                return String(view)
            }
        }
        return nil
    }
}
