import TocsinCore

/// The statement of a `ModelQuery`: a condition, the position to go on from, an order and a limit.
struct PageStatement {
    private let query: ModelQuery
    private var translation: PredicateTranslation
    /// What each row is asked about grants: columns behind those of the fields.
    private var questions: [GrantQuestion] = []
    /// Forms of an owner that become branches.
    ///
    /// An index gives rows in order for one form of the owner, and not for all forms at once. So a
    /// query by owner alone has one branch for each form. SQLite merges the branches in order.
    /// PostgreSQL would read and sort all rows of all branches, so each has a limit of its own.
    private static let maximumBranches = 4

    static func make(
        _ query: ModelQuery,
        _ statements: ModelStatements,
        asking questions: [GrantQuestion] = []
    ) -> SQLBuilder {
        var statement = PageStatement(
            query: query,
            translation: PredicateTranslation(statements: statements, builder: SQLBuilder()),
            questions: questions
        )
        return statement.build()
    }

    private mutating func build() -> SQLBuilder {
        let conjuncts = query.predicate.conjuncts
        for case .field(let field, .equal(.text(let text))) in conjuncts { translation.topics[field] = text }
        let branches = branches(of: conjuncts)
        let isLimited = branches.count > 1 && !translation.statements.dialect.mergesBranches
        let texts = branches.map { isLimited ? limited(branch($0)) : branch($0) }
        translation.builder.text = texts.joined(separator: " UNION ALL ") + ending()
        return translation.builder
    }

    /// A branch with an order and limit of its own.
    private mutating func limited(_ branch: String) -> String { "SELECT * FROM (\(branch + ending())) AS page" }

    /// Order and limit.
    private mutating func ending() -> String {
        let terms = query.order.map { term in
            translation.statements.dialect.orderTerm(String(term.field + 1), ascending: term.ascending)
        }
        let order = terms.isEmpty ? "" : " ORDER BY " + terms.joined(separator: ", ")
        return order + " LIMIT \(translation.builder.bind(.int(Int64(query.limit))))"
    }

    private mutating func branch(_ predicates: [Predicate]) -> String {
        let answers = questions.map { question in
            "CASE WHEN \(translation.granted(question)) THEN 1 ELSE 0 END"
        }
        var conditions: [String] = []
        if let condition = translation.statements.discriminatorCondition { conditions.append(condition) }
        for predicate in predicates where predicate != .always {
            conditions.append(translation.condition(predicate))
        }
        if let after = query.after { conditions.append(position(after: after)) }
        let selection = translation.statements.selection(with: answers)
        return conditions.isEmpty ? selection : selection + " WHERE " + conditions.joined(separator: " AND ")
    }

    /// What is the caller's own and what is shared with them, a branch each.
    ///
    /// No index serves both at once, and no row is in two. The messages of one topic need none.
    private func branches(of conjuncts: [Predicate]) -> [[Predicate]] {
        let isShared = { (part: Predicate) in if case .granted = part { true } else { false } }
        let ofOneTopic = { (question: GrantQuestion) in translation.topics[question.field] != nil }
        for (index, predicate) in conjuncts.enumerated() where !predicate.grantQuestions.contains(where: ofOneTopic) {
            guard case .any(let parts) = predicate, parts.contains(where: isShared) else { continue }
            let own = parts.filter { !isShared($0) }
            guard !own.isEmpty else { continue }
            let rest = conjuncts.enumerated().filter { $0.offset != index }.map(\.element)
            let others = parts.filter(isShared) + own.map { .not($0) }
            return own.flatMap { ownerBranches(of: rest + [$0]) } + [rest + others]
        }
        return ownerBranches(of: conjuncts)
    }

    /// Whether the query names the rows by what an index begins with, in place of their owner.
    private func isNarrow(_ conjuncts: [Predicate]) -> Bool {
        let partitions = Set(query.model.indexes.compactMap { query.model.position(of: $0.partitionField) })
        return conjuncts.contains { predicate in
            if case .field(let position, .equal) = predicate { partitions.contains(position) } else { false }
        }
    }

    /// The predicates of each branch: one branch, unless an index by owner must be
    /// walked for several owners.
    private func ownerBranches(of conjuncts: [Predicate]) -> [[Predicate]] {
        let model = query.model
        guard !isNarrow(conjuncts), let owner = model.position(of: "owner") else { return [conjuncts] }
        for (index, predicate) in conjuncts.enumerated() {
            guard case .field(owner, .isOneOf(let values)) = predicate else { continue }
            let distinct = values.reduce(into: [FieldValue]()) { distinct, value in
                let isKnown = distinct.contains { Comparison.equal(value).holds(for: $0, of: model.fields[owner]) }
                if !isKnown { distinct.append(value) }
            }
            guard (2...Self.maximumBranches).contains(distinct.count), !distinct.contains(.null) else { continue }
            return distinct.map { value in
                var branch = conjuncts
                branch[index] = .field(owner, .equal(value))
                return branch
            }
        }
        return [conjuncts]
    }
}

extension PageStatement {
    /// Only rows strictly after these values in the query's order, in which nulls
    /// come before everything else.
    private mutating func position(after values: [FieldValue]) -> String {
        let terms = Array(zip(query.order, values))
        guard !terms.isEmpty else { return "TRUE" }
        if isOneRange(terms) {
            let expressions = terms.map { translation.statements.expressions[$0.0.field] }
            let placeholders = terms.map { translation.builder.bind(stored: $0.1) }
            let sign = terms[0].0.ascending ? ">" : "<"
            if terms.count == 1 { return "\(expressions[0]) \(sign) \(placeholders[0])" }
            return "(\(expressions.joined(separator: ", "))) \(sign) (\(placeholders.joined(separator: ", ")))"
        }
        let alternatives = terms.indices.map { last in
            var parts: [String] = []
            for index in 0..<last { parts.append(tie(terms[index].0, terms[index].1)) }
            parts.append(step(terms[last].0, terms[last].1))
            return "(\(parts.joined(separator: " AND ")))"
        }
        return "(\(alternatives.joined(separator: " OR ")))"
    }

    /// Whether comparing the values as one row gives the answer, which an index serves: one
    /// direction, and no null after.
    private func isOneRange(_ terms: [(ModelQuery.Order, FieldValue)]) -> Bool {
        guard let ascending = terms.first?.0.ascending else { return false }
        return terms.allSatisfy { term in
            let field = query.model.fields[term.0.field]
            let mayBeNull = !field.isRequired && term.0.field != query.model.keyPosition && field.name != "number"
            return term.0.ascending == ascending && !term.1.isNull && (ascending || !mayBeNull)
        }
    }

    private mutating func tie(_ order: ModelQuery.Order, _ value: FieldValue) -> String {
        let expression = translation.statements.expressions[order.field]
        return value.isNull ? "\(expression) IS NULL" : "\(expression) = \(translation.builder.bind(stored: value))"
    }

    private mutating func step(_ order: ModelQuery.Order, _ value: FieldValue) -> String {
        let expression = translation.statements.expressions[order.field]
        switch (order.ascending, value.isNull) {
        case (true, true): return "\(expression) IS NOT NULL"
        case (true, false): return "\(expression) > \(translation.builder.bind(stored: value))"
        case (false, true): return "FALSE"
        case (false, false):
            return "(\(expression) < \(translation.builder.bind(stored: value)) OR \(expression) IS NULL)"
        }
    }
}
