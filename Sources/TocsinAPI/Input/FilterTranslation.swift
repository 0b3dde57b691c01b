import JSON
import TocsinCore

/// Translates filter, condition and key-condition inputs into predicates (`docs/appsync.md`).
struct FilterTranslation {
    let model: ModelType
    private let limits: ServiceLimits
    private let caller: Identity
    /// AppSync joins several operators on one field by OR in subscription filters, and by AND in
    /// all others.
    private let joinsOperatorsByOr: Bool
    private var parts = 0

    private init(model: ModelType, limits: ServiceLimits, caller: Identity, joinsOperatorsByOr: Bool = false) {
        self.model = model
        self.limits = limits
        self.caller = caller
        self.joinsOperatorsByOr = joinsOperatorsByOr
    }

    /// The predicate of a filter or condition; absent and null constrain nothing.
    static func predicate(
        _ filter: JSONValue?,
        on model: ModelType,
        limits: ServiceLimits,
        caller: Identity
    ) throws(ServiceError) -> Predicate {
        guard let object = filter?.objectValue else { return .always }
        var translation = FilterTranslation(model: model, limits: limits, caller: caller)
        return try translation.group(object, depth: 1)
    }

    /// The predicate of a subscription's filter.
    static func subscriptionPredicate(
        _ filter: JSONValue?,
        on model: ModelType,
        limits: ServiceLimits,
        caller: Identity
    ) throws(ServiceError) -> Predicate {
        guard let object = filter?.objectValue else { return .always }
        var translation = FilterTranslation(model: model, limits: limits, caller: caller, joinsOperatorsByOr: true)
        let predicate = try translation.group(object, depth: 1)
        try SubscriptionFilterLimits.check(object)
        return predicate
    }

    /// The operators of one field, where a key condition on it has been checked.
    static func comparisons(
        _ operators: JSONObject,
        on fieldName: String,
        of model: ModelType,
        limits: ServiceLimits,
        caller: Identity
    ) throws(ServiceError) -> Predicate {
        var translation = FilterTranslation(model: model, limits: limits, caller: caller)
        return try translation.comparisons(operators, field: fieldName)
    }

    private mutating func group(_ object: JSONObject, depth: Int) throws(ServiceError) -> Predicate {
        guard depth <= limits.filterDepth else {
            throw .badRequest("A filter may be nested \(limits.filterDepth) deep.")
        }
        var terms: [Predicate] = []
        for member in object where !member.value.isNull {
            switch member.key {
            case "and": terms.append(.all(try groups(member.value, depth: depth + 1)))
            case "or": terms.append(.any(try groups(member.value, depth: depth + 1)))
            case "not":
                guard let inner = member.value.objectValue else { continue }
                terms.append(.not(try group(inner, depth: depth + 1)))
            default:
                guard let operators = member.value.objectValue else { continue }
                terms.append(try comparisons(operators, field: member.key))
            }
        }
        return terms.reduce(.always) { $0.and($1) }
    }

    private mutating func groups(_ value: JSONValue, depth: Int) throws(ServiceError) -> [Predicate] {
        var result: [Predicate] = []
        for element in value.arrayValue ?? [value] {
            guard let object = element.objectValue else { continue }
            result.append(try group(object, depth: depth))
        }
        return result
    }

    private mutating func comparisons(
        _ operators: JSONObject,
        field fieldName: String
    ) throws(ServiceError) -> Predicate {
        guard let position = model.position(of: fieldName) else {
            throw .badRequest("A filter cannot use \(fieldName): \(model.name) does not store it.")
        }
        var terms: [Predicate] = []
        for member in operators {
            parts += 1
            guard parts <= limits.filterParts else {
                // Clients know these words, and go on without a filter.
                let known = joinsOperatorsByOr ? "Filters exceed maximum attributes limit: a" : "A"
                throw .badRequest("\(known) filter may have \(limits.filterParts) comparisons.")
            }
            if member.key == "size" {
                terms += try sizes(member.value, position)
                continue
            }
            guard let comparison = try comparison(member, field: model.fields[position]) else { continue }
            terms.append(.field(position, comparison))
        }
        let isEither = joinsOperatorsByOr && terms.count > 1
        let joined = isEither ? Predicate.any(terms) : terms.reduce(Predicate.always) { $0.and($1) }
        return try protected(joined, field: position)
    }

    /// A field with rules of its own is compared only where the caller may read it: a filter
    /// must not tell what is in it.
    private func protected(_ predicate: Predicate, field position: Int) throws(ServiceError) -> Predicate {
        switch AccessPolicy.decision(.list, onField: position, of: model, for: caller) {
        case nil: return predicate
        case .deny?: throw .unauthorized
        case .allow(let readable)?: return readable.and(predicate)
        }
    }

    private func comparison(
        _ member: JSONObject.Element,
        field: ModelField
    ) throws(ServiceError) -> Comparison? {
        // A letter may have any number of marks: what is searched for is bounded in bytes too.
        if let text = member.value.stringValue,
            text.utf8.count > 4 * limits.filterCharacters || text.count > limits.filterCharacters
        {
            throw .badRequest("A text in a filter may have \(limits.filterCharacters) characters.")
        }
        let value = field.value(from: member.value)
        switch member.key {
        case "eq": return .equal(value)
        case "ne": return .notEqual(value)
        default: break
        }
        if member.value.isNull { return nil }
        switch member.key {
        case "lt": return .less(value)
        case "le": return .lessOrEqual(value)
        case "gt": return .greater(value)
        case "ge": return .greaterOrEqual(value)
        case "between": return try between(member.value, field)
        case "contains": return .contains(member.value.stringValue ?? "")
        case "notContains": return .notContains(member.value.stringValue ?? "")
        case "beginsWith": return .beginsWith(member.value.stringValue ?? "")
        case "attributeExists": return .exists(member.value.boolValue ?? true)
        case "attributeType": return .hasType(member.value.stringValue ?? "")
        case "notIn": return .isNoneOf((member.value.arrayValue ?? []).map(field.value(from:)))
        case "in": return .isOneOf((member.value.arrayValue ?? []).map(field.value(from:)))
        default: throw .badRequest("A filter cannot use the operator \(member.key).")
        }
    }

    private func between(_ value: JSONValue, _ field: ModelField) throws(ServiceError) -> Comparison {
        guard let bounds = value.arrayValue, bounds.count == 2, !bounds.contains(where: \.isNull) else {
            throw .badRequest("Unable to process the filter expression: between takes exactly two values.", .filter)
        }
        return .between(field.value(from: bounds[0]), field.value(from: bounds[1]))
    }

    /// All operators given for the size must hold.
    private func sizes(_ value: JSONValue, _ position: Int) throws(ServiceError) -> [Predicate] {
        var terms: [Predicate] = []
        for member in value.objectValue ?? [:] where !member.value.isNull {
            terms.append(.field(position, .size(try size(member))))
        }
        return terms
    }

    private func size(_ member: JSONObject.Element) throws(ServiceError) -> SizeComparison {
        let number = member.value.intValue ?? 0
        switch member.key {
        case "eq": return .equal(number)
        case "ne": return .notEqual(number)
        case "lt": return .less(number)
        case "le": return .lessOrEqual(number)
        case "gt": return .greater(number)
        case "ge": return .greaterOrEqual(number)
        default:
            guard let bounds = member.value.arrayValue, bounds.count == 2, let low = bounds[0].intValue,
                let high = bounds[1].intValue
            else {
                throw .badRequest("Unable to process the filter expression: between takes exactly two values.", .filter)
            }
            return .between(low, high)
        }
    }
}
