import JSON

/// The five scalars of GraphQL §3.5, with what they take in and give out.
enum BuiltInScalar: String {
    case int = "Int"
    case float = "Float"
    case string = "String"
    case boolean = "Boolean"
    case id = "ID"

    /// Input coercion of a value from a variable.
    func coerceInput(_ value: JSONValue) throws(CoercionError) -> JSONValue {
        switch self {
        case .int: return .int(try int(value))
        case .float:
            guard let number = value.doubleValue, number.isFinite else {
                throw CoercionError("Float cannot represent non numeric value: \(Self.text(value))")
            }
            return .double(number)
        case .string:
            guard case .string = value else {
                throw CoercionError("String cannot represent a non string value: \(Self.text(value))")
            }
            return value
        case .boolean:
            guard case .bool = value else {
                throw CoercionError("Boolean cannot represent a non boolean value: \(Self.text(value))")
            }
            return value
        case .id:
            if case .string = value { return value }
            guard let number = value.intValue else {
                throw CoercionError("ID cannot represent value: \(Self.text(value))")
            }
            return .string(String(number))
        }
    }

    /// Input coercion of a value written in a document.
    func coerceLiteral(_ value: Value) throws(CoercionError) -> JSONValue {
        // Printed for errors alone.
        var text: String { printValue(value) }
        switch (self, value.kind) {
        case (.int, .int(let digits)):
            guard let number = Int32(digits) else {
                throw CoercionError("Int cannot represent non 32-bit signed integer value: \(text)")
            }
            return .int(Int64(number))
        case (.int, _): throw CoercionError("Int cannot represent non-integer value: \(text)")
        case (.float, .int(let digits)), (.float, .float(let digits)):
            guard let number = Double(digits), number.isFinite else {
                throw CoercionError("Float cannot represent non numeric value: \(text)")
            }
            return .double(number)
        case (.float, _): throw CoercionError("Float cannot represent non numeric value: \(text)")
        case (.string, .string(let string)), (.id, .string(let string)): return .string(string.value)
        case (.string, _): throw CoercionError("String cannot represent a non string value: \(text)")
        case (.boolean, .boolean(let flag)): return .bool(flag)
        case (.boolean, _): throw CoercionError("Boolean cannot represent a non boolean value: \(text)")
        case (.id, .int(let digits)): return .string(digits)
        case (.id, _):
            throw CoercionError("ID cannot represent a non-string and non-integer value: \(text)")
        }
    }

    /// Result coercion of what a resolver gave.
    func serialize(_ value: JSONValue) throws(CoercionError) -> JSONValue {
        switch (self, value) {
        case (.string, .string), (.boolean, .bool), (.id, .string): return value
        case (.string, .int(let number)), (.id, .int(let number)): return .string(String(number))
        case (.string, .bool(let flag)): return .string(flag ? "true" : "false")
        case (.string, .double(let number)) where number.isFinite: return .string(String(number))
        case (.string, _): throw CoercionError("String cannot represent value: \(Self.text(value))")
        case (.int, .bool(let flag)): return .int(flag ? 1 : 0)
        case (.int, .string(let text)) where Self.number(text) != nil:
            return .int(try int(Self.number(text) ?? .null, told: value))
        case (.int, _): return .int(try int(value))
        case (.float, .bool(let flag)): return .double(flag ? 1 : 0)
        case (.float, .string(let text)) where Self.number(text) != nil: return Self.number(text) ?? .null
        case (.float, .int), (.float, .double):
            guard let number = value.doubleValue, number.isFinite else {
                throw CoercionError("Float cannot represent non numeric value: \(Self.text(value))")
            }
            return value
        case (.float, _): throw CoercionError("Float cannot represent non numeric value: \(Self.text(value))")
        case (.boolean, .int(let number)): return .bool(number != 0)
        case (.boolean, .double(let number)) where number.isFinite: return .bool(number != 0)
        case (.boolean, _): throw CoercionError("Boolean cannot represent a non boolean value: \(Self.text(value))")
        case (.id, .double(let number)) where Int64(exactly: number) != nil: return .string(String(Int64(number)))
        case (.id, _): throw CoercionError("ID cannot represent value: \(Self.text(value))")
        }
    }

    /// The number a text spells, as resolvers of loosely typed sources give it.
    private static func number(_ text: String) -> JSONValue? {
        guard let value = try? JSONParser.parse(text), value.doubleValue != nil else { return nil }
        return value
    }

    /// A number of 32 bits; `told` is what the error shows, where that is another value.
    private func int(_ value: JSONValue, told: JSONValue? = nil) throws(CoercionError) -> Int64 {
        guard let number = value.intValue else {
            if let double = value.doubleValue, double == double.rounded() {
                throw CoercionError("Int cannot represent non 32-bit signed integer value: \(Self.text(told ?? value))")
            }
            throw CoercionError("Int cannot represent non-integer value: \(Self.text(told ?? value))")
        }
        guard Int32(exactly: number) != nil else {
            throw CoercionError("Int cannot represent non 32-bit signed integer value: \(Self.text(told ?? value))")
        }
        return number
    }

    /// A value as errors show it, shortened where it is long.
    static func text(_ value: JSONValue) -> String {
        let text = value.serializedString()
        return text.utf8.count <= 200 ? text : String(text.unicodeScalars.prefix(200)) + "…"
    }
}
