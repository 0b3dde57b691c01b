/// One JSON value (RFC 8259), with integers kept apart from other numbers and
/// object members in their order.
public enum JSONValue: Sendable, Hashable {
    /// The literal `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number written without fraction or exponent that fits 64 bits.
    case int(Int64)
    /// Any other number; always finite when it came from the parser.
    case double(Double)
    /// Text.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Named members in the order they were written.
    case object(JSONObject)
}

extension JSONValue {
    /// The member of an object; `nil` when this is no object or has no such member.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let object) = self else { return nil }
        return object[key]
    }

    /// The element of an array; `nil` when this is no array or is too short.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let values) = self, values.indices.contains(index) else { return nil }
        return values[index]
    }

    /// Whether this is the literal `null`.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The text, if this is a string.
    public var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The number, if this is an integer, or a double without a fraction that fits 64 bits.
    public var intValue: Int64? {
        switch self {
        case .int(let number): number
        case .double(let number): Int64(exactly: number)
        default: nil
        }
    }

    /// The number, if this is one.
    public var doubleValue: Double? {
        switch self {
        case .int(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }

    /// The truth value, if this is one.
    public var boolValue: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    /// The elements, if this is an array.
    public var arrayValue: [JSONValue]? {
        if case .array(let values) = self { values } else { nil }
    }

    /// The members, if this is an object.
    public var objectValue: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// The value as compact JSON in UTF-8.
    public func serialized() -> [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes
    }

    /// The value as compact JSON text.
    public func serializedString() -> String {
        String(decoding: serialized(), as: UTF8.self)
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
    /// `nil` is JSON's `null`.
    public init(nilLiteral: ()) { self = .null }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .int(value) }
}

extension JSONValue: ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    /// A number with a fraction.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Values in order.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Members in order; of two with the same key the last wins.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}
