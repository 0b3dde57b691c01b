import GraphQL
import JSON
import Synchronization

/// Values for fields and variables out of a seed, mostly of the right type.
final class FuzzedData: Sendable {
    private let state: Mutex<UInt64>
    private let schema: Schema

    init(seed: UInt64, schema: Schema) {
        state = Mutex(seed)
        self.schema = schema
    }

    /// A number below a bound, the next of the sequence.
    private func below(_ bound: Int) -> Int {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
        }
    }

    static func executable(_ schema: Schema) -> ExecutableSchema<JSONValue, FuzzedData>? {
        var map = ResolverMap<JSONValue, FuzzedData>()
        map.defaultResolver = { (_, field) throws(GraphQLError) in
            let type = schema.type(named: field.parentType)?.field(named: field.fieldName)?.type
            if field.context.below(40) == 0 { throw GraphQLError("Made up.") }
            return type.map { field.context.resolved($0) } ?? .null
        }
        map.defaultTypeName = { $0["__typename"]?.stringValue ?? "" }
        return try? ExecutableSchema(schema: schema, resolvers: map)
    }

    private func resolved(_ type: TypeReference) -> ResolvedValue<JSONValue> {
        if below(type.isNonNull ? 60 : 15) == 0 { return .null }
        if let element = type.element {
            guard below(40) > 0 else { return .leaf(5) }
            return .list((0..<below(4)).map { _ in resolved(element) })
        }
        guard let named = schema.type(named: type.namedType), named.isComposite else {
            return .leaf(leaf(type.namedType))
        }
        let possible = schema.possibleTypes(of: named).map(\.name) + ["Nope"]
        return .object(["__typename": .string(possible[below(possible.count + 8) % possible.count])])
    }

    private func leaf(_ name: String) -> JSONValue {
        if below(30) == 0 { return [1, "x", true, 1.5, 99_999_999_999, [1], ["a": nil]][below(7)] }
        if let values = schema.type(named: name)?.enumValues, !values.isEmpty {
            return .string(values[below(values.count)].name)
        }
        switch name {
        case "Int": return .int(Int64(below(1000)))
        case "Float": return .double(Double(below(1000)) / 8)
        case "Boolean": return .bool(below(2) == 0)
        default: return ["s", "é😀\n\"", "", "\u{7F}\u{2028}"][below(4)]
        }
    }

    /// Values for the variables of all operations.
    func variables(of operations: [OperationDefinition]) -> JSONObject {
        var values = JSONObject()
        for variable in operations.flatMap(\.variables) where below(8) > 0 {
            values[variable.name] = input(variable.type, depth: 0)
        }
        return values
    }

    private func input(_ type: TypeReference, depth: Int) -> JSONValue {
        if below(type.isNonNull ? 50 : 10) == 0 || depth > 6 { return .null }
        if let element = type.element, below(8) > 0 {
            return .array((0..<below(3)).map { _ in input(element, depth: depth + 1) })
        }
        guard let named = schema.type(named: type.namedType), named.kind == .inputObject else {
            return leaf(type.namedType)
        }
        var object = JSONObject()
        for field in named.inputFields where below(3) > 0 || field.type.isNonNull {
            object[field.name] = input(field.type, depth: depth + 1)
            if named.isOneOf { break }
        }
        if below(20) == 0 { object["nope"] = 1 }
        return .object(object)
    }
}
