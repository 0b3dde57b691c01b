public import JSON

/// A value as written in a document (GraphQL §2.10).
public struct Value: Sendable {
    /// What was written.
    public var kind: Kind
    /// Where it begins.
    public var location: SourceLocation

    /// The kinds of values.
    public enum Kind: Sendable {
        /// `$name`
        case variable(String)
        /// A whole number, with its digits as written.
        case int(String)
        /// A number with fraction or exponent, as written.
        case float(String)
        /// Text.
        case string(StringValue)
        /// `true` or `false`
        case boolean(Bool)
        /// `null`
        case null
        /// A bare name.
        case enumeration(String)
        /// `[…]`
        case list([Value])
        /// `{…}`
        case object([ObjectField])
    }
}

/// A member of an object value.
public struct ObjectField: Sendable {
    /// The member's name.
    public var name: String
    /// The member's value.
    public var value: Value
    /// Where it begins.
    public var location: SourceLocation
}

/// Text in a document: a value, or a description.
public struct StringValue: Sendable, Hashable, CustomStringConvertible {
    /// The text, unescaped and without common indentation.
    public var value: String
    /// Whether it was written between triple quotes.
    public var isBlock: Bool

    /// The text.
    public var description: String { value }
}

extension Value {
    /// The text, if this is a string.
    public var stringValue: String? {
        if case .string(let text) = kind { text.value } else { nil }
    }

    /// The name, if this is an enum value.
    public var enumValue: String? {
        if case .enumeration(let name) = kind { name } else { nil }
    }

    /// The truth value, if this is one.
    public var boolValue: Bool? {
        if case .boolean(let flag) = kind { flag } else { nil }
    }

    /// The number, if this is a whole one that fits 64 bits.
    public var intValue: Int64? {
        if case .int(let digits) = kind { Int64(digits) } else { nil }
    }

    /// The elements, if this is a list.
    public var listValue: [Value]? {
        if case .list(let values) = kind { values } else { nil }
    }

    /// The members, if this is an object.
    public var objectValue: [ObjectField]? {
        if case .object(let fields) = kind { fields } else { nil }
    }

    /// The value as JSON without regard to a type: enum values become strings, variables `null`.
    public var json: JSONValue { json(replacing: { _ in nil }) ?? .null }

    /// The value as JSON without regard to a type, with values for its variables.
    ///
    /// An absent variable is left out of objects, is `null` in lists, and gives `nil`
    /// when it is the whole value.
    func json(replacing variable: (String) -> JSONValue?) -> JSONValue? {
        switch kind {
        case .variable(let name): return variable(name)
        case .int(let digits): return Int64(digits).map(JSONValue.int) ?? .double(Double(digits) ?? 0)
        case .float(let digits): return .double(Double(digits) ?? 0)
        case .string(let text): return .string(text.value)
        case .boolean(let flag): return .bool(flag)
        case .null: return .null
        case .enumeration(let name): return .string(name)
        case .list(let values): return .array(values.map { $0.json(replacing: variable) ?? .null })
        case .object(let fields):
            var object = JSONObject()
            for field in fields { object[field.name] = field.value.json(replacing: variable) }
            return .object(object)
        }
    }
}
