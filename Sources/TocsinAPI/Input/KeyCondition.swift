import JSON
import TocsinCore

/// The condition on the sort fields of an index: one operator on one field, or on several
/// as if they were one text.
struct KeyCondition {
    let model: ModelType
    let fields: [String]
    let limits: ServiceLimits
    let caller: Identity

    /// The predicate of the argument; absent and null constrain nothing.
    func predicate(_ argument: JSONValue?) throws(ServiceError) -> Predicate {
        guard let object = argument?.objectValue else { return .always }
        let given = object.filter { !$0.value.isNull }
        guard given.count <= 1 else {
            throw .badRequest(
                "A key condition on \(fields.joined(separator: " and ")) takes one operator; \(given.count) were given.",
                .arguments
            )
        }
        guard let member = given.first else { return .always }
        if fields.count > 1 { return try composite(member) }
        return try FilterTranslation.comparisons(
            [member.key: member.value],
            on: fields[0],
            of: model,
            limits: limits,
            caller: caller
        )
    }

    private func composite(_ member: JSONObject.Element) throws(ServiceError) -> Predicate {
        if member.key == "between" {
            guard let bounds = member.value.arrayValue, bounds.count == 2 else {
                throw .badRequest("Unable to process the filter expression: between takes exactly two values.", .filter)
            }
            return try ordered("ge", bounds[0]).and(try ordered("le", bounds[1]))
        }
        return try ordered(member.key, member.value)
    }

    /// Compares field by field, the first that differs deciding.
    private func ordered(_ sign: String, _ value: JSONValue) throws(ServiceError) -> Predicate {
        let terms = try self.terms(value)
        guard let last = terms.last else { return .always }
        let ties = terms.dropLast().map { Predicate.field($0.position, .equal($0.value)) }
        switch sign {
        case "eq": return .all(ties + [.field(last.position, .equal(last.value))])
        case "beginsWith":
            let prefix: Comparison = last.value.text.map(Comparison.beginsWith) ?? .equal(last.value)
            return .all(ties + [.field(last.position, prefix)])
        default:
            let isGreater = sign.hasPrefix("g")
            var alternatives: [Predicate] = []
            for (index, term) in terms.enumerated() {
                let before = terms[..<index].map { Predicate.field($0.position, .equal($0.value)) }
                let step: Comparison = isGreater ? .greater(term.value) : .less(term.value)
                alternatives.append(.all(before + [.field(term.position, step)]))
            }
            if sign.hasSuffix("e") { alternatives.append(.all(ties + [.field(last.position, .equal(last.value))])) }
            return .any(alternatives)
        }
    }

    /// The values of the leading sort fields; none may be left out before one that is given.
    private func terms(_ value: JSONValue) throws(ServiceError) -> [(position: Int, value: FieldValue)] {
        var terms: [(position: Int, value: FieldValue)] = []
        var missing: String?
        for name in fields {
            guard let json = value[name], !json.isNull, let position = model.position(of: name) else {
                missing = missing ?? name
                continue
            }
            if let missing {
                throw .badRequest("A key condition that names \(name) must name \(missing) too.", .arguments)
            }
            terms.append((position, model.fields[position].value(from: json)))
        }
        return terms
    }
}
