import JSON
import TocsinCore

/// AppSync's limits of subscription filters (`docs/appsync.md`).
///
/// The texts are AppSync's own: a client that reads one of them subscribes again without a filter.
enum SubscriptionFilterLimits {
    /// Filters joined by OR, after everything has been multiplied out.
    static let combinations = 10
    /// Different fields of one such filter.
    static let fields = 5
    /// Values of `in` and `notIn`.
    static let values = 5

    /// Refuses a filter that AppSync would refuse.
    static func check(_ filter: JSONObject) throws(ServiceError) {
        for names in try alternatives(of: filter) {
            let distinct = Set(names)
            guard distinct.count <= fields else {
                throw .badRequest(
                    "Filters exceed maximum attributes limit: \(fields) fields together, not \(distinct.count)."
                )
            }
            guard distinct.count == names.count else {
                let twice = names.first { name in names.filter { $0 == name }.count > 1 } ?? ""
                throw .badRequest(
                    "filter uses same fieldName multiple time: \(twice). Give it all its operators in one place; any of "
                        + "them counts."
                )
            }
        }
    }

    /// The fields of each of the filters that the object comes to: any of these must hold,
    /// each with all its fields.
    private static func alternatives(of object: JSONObject) throws(ServiceError) -> [[String]] {
        var result: [[String]] = [[]]
        for member in object where !member.value.isNull {
            let objects = (member.value.arrayValue ?? [member.value]).compactMap(\.objectValue)
            switch member.key {
            case "and":
                for inner in objects { result = try product(result, try alternatives(of: inner)) }
            case "or":
                var choices: [[String]] = []
                for inner in objects { choices += try alternatives(of: inner) }
                if !choices.isEmpty { result = try product(result, choices) }
            default:
                let operators = objects.first ?? [:]
                try checkValues(of: operators)
                // Several operators on one field are alternatives.
                let choices = Array(repeating: [member.key], count: max(1, operators.count))
                result = try product(result, choices)
            }
        }
        return result
    }

    private static func product(_ left: [[String]], _ right: [[String]]) throws(ServiceError) -> [[String]] {
        guard left.count * right.count <= combinations else {
            throw .badRequest(
                "Filters combination exceed maximum limit: \(combinations) once every or has been multiplied out."
            )
        }
        return left.flatMap { names in right.map { names + $0 } }
    }

    private static func checkValues(of operators: JSONObject) throws(ServiceError) {
        for name in ["in", "notIn"] {
            guard let count = operators[name]?.arrayValue?.count, count > values else { continue }
            throw .badRequest("Filters exceed maximum attributes limit: \(name) takes \(values) values, not \(count).")
        }
    }
}
