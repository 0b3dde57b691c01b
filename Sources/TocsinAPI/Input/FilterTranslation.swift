import JSON
import TocsinCore

/// Translates filter, condition and key-condition inputs into predicates (appsync.md 2.7).
struct FilterTranslation {
    let model: ModelType
    private let limits: ServiceLimits
    /// Subscription filters join several operators on one field by OR, all others by AND (appsync.md 4.7).
    private let joinsOperatorsByOr: Bool
    private var parts = 0

    private init(model: ModelType, limits: ServiceLimits, joinsOperatorsByOr: Bool = false) {
        self.model = model
        self.limits = limits
        self.joinsOperatorsByOr = joinsOperatorsByOr
    }

    /// The predicate of a filter or condition; absent and null constrain nothing.
    static func predicate(
        _ filter: JSONValue?,
        on model: ModelType,
        limits: ServiceLimits
    ) throws(ServiceError) -> Predicate {
        guard let object = filter?.objectValue else { return .always }
        var translation = FilterTranslation(model: model, limits: limits)
        return try translation.group(object, depth: 1)
    }

    /// The predicate of a subscription's filter.
    static func subscriptionPredicate(
        _ filter: JSONValue?,
        on model: ModelType,
        limits: ServiceLimits
    ) throws(ServiceError) -> Predicate {
        guard let object = filter?.objectValue else { return .always }
        var translation = FilterTranslation(model: model, limits: limits, joinsOperatorsByOr: true)
        return try translation.group(object, depth: 1)
    }

    /// The predicate of one key condition: at most one operator.
    static func keyCondition(
        _ condition: JSONValue?,
        on fieldName: String,
        of model: ModelType,
        limits: ServiceLimits
    ) throws(ServiceError) -> Predicate {
        guard let object = condition?.objectValue else { return .always }
        let given = object.filter { !$0.value.isNull }
        guard given.count <= 1 else {
            throw .badRequest(
                "A key condition on \(fieldName) takes one operator; \(given.count) were given.",
                .arguments
            )
        }
        var translation = FilterTranslation(model: model, limits: limits)
        return try translation.comparisons(object, field: fieldName)
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
                throw .badRequest("A filter may have \(limits.filterParts) comparisons.")
            }
            guard let comparison = try comparison(member, field: model.fields[position]) else { continue }
            terms.append(.field(position, comparison))
        }
        if joinsOperatorsByOr, terms.count > 1 { return .any(terms) }
        return terms.reduce(.always) { $0.and($1) }
    }

    private func comparison(
        _ member: JSONObject.Element,
        field: ModelField
    ) throws(ServiceError) -> Comparison? {
        if let text = member.value.stringValue, text.count > limits.filterCharacters {
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
        case "size": return try size(member.value)
        default: throw .badRequest("A filter cannot use the operator \(member.key).")
        }
    }

    private func between(_ value: JSONValue, _ field: ModelField) throws(ServiceError) -> Comparison {
        guard let bounds = value.arrayValue, bounds.count == 2, !bounds.contains(where: \.isNull) else {
            throw .badRequest("Unable to process the filter expression: between takes exactly two values.", .filter)
        }
        return .between(field.value(from: bounds[0]), field.value(from: bounds[1]))
    }

    private func size(_ value: JSONValue) throws(ServiceError) -> Comparison? {
        guard let object = value.objectValue else { return nil }
        let given = object.filter { !$0.value.isNull }
        guard given.count == 1, let member = given.first else {
            throw .badRequest("size takes exactly one operator.", .filter)
        }
        let number = member.value.intValue ?? 0
        switch member.key {
        case "eq": return .size(.equal(number))
        case "ne": return .size(.notEqual(number))
        case "lt": return .size(.less(number))
        case "le": return .size(.lessOrEqual(number))
        case "gt": return .size(.greater(number))
        case "ge": return .size(.greaterOrEqual(number))
        default:
            guard let bounds = member.value.arrayValue, bounds.count == 2, let low = bounds[0].intValue,
                let high = bounds[1].intValue
            else {
                throw .badRequest("Unable to process the filter expression: between takes exactly two values.", .filter)
            }
            return .size(.between(low, high))
        }
    }
}
