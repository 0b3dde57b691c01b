import JSON

/// The members of a payload, taken out one by one; what is left is nobody's.
struct PushFields {
    private(set) var rest: JSONObject

    init(_ members: JSONObject?) { rest = members ?? [:] }

    /// The first of these members that is a text or a number; all that are so are taken.
    mutating func text(_ names: String...) -> String? {
        var found: String?
        for name in names {
            guard let text = rest[name].flatMap(Self.text) else { continue }
            rest[name] = nil
            if found == nil, !text.isEmpty { found = text }
        }
        return found
    }

    /// A member that is a whole number, or a text that spells one.
    mutating func number(_ name: String) -> Int64? {
        guard let number = rest[name].flatMap(Self.number) else { return nil }
        rest[name] = nil
        return number
    }

    /// A member that is true, or 1.
    mutating func flag(_ name: String) -> Bool {
        guard let value = rest[name], let flag = value.boolValue ?? Self.number(value).map({ $0 != 0 })
        else { return false }
        rest[name] = nil
        return flag
    }

    /// A member that is an object, or a text that spells one.
    mutating func object(_ name: String) -> JSONObject? {
        guard let value = rest[name], let object = value.objectValue ?? Self.parsed(value)?.objectValue
        else { return nil }
        rest[name] = nil
        return object
    }

    /// A member that is a list, or a text that spells one.
    mutating func list(_ name: String) -> [JSONValue] {
        guard let value = rest[name], let list = value.arrayValue ?? Self.parsed(value)?.arrayValue
        else { return [] }
        rest[name] = nil
        return list
    }

    /// Drops the members of other libraries, which begin so.
    mutating func drop(prefixes: [String]) {
        for key in rest.keys where prefixes.contains(where: key.hasPrefix) { rest[key] = nil }
    }

    static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): text
        case .int(let number): String(number)
        case .double(let number): value.intValue.map { String($0) } ?? String(number)
        case .null, .bool, .array, .object: nil
        }
    }

    static func number(_ value: JSONValue) -> Int64? {
        value.intValue ?? value.stringValue.flatMap { Int64($0) }
    }

    private static func parsed(_ value: JSONValue) -> JSONValue? {
        guard let text = value.stringValue, text.utf8.first == UInt8(ascii: "{") || text.utf8.first == UInt8(ascii: "[")
        else { return nil }
        return try? JSONParser.parse(text)
    }
}

extension JSONObject {
    /// The members of a dictionary such as `userInfo`, as far as they have a form in JSON.
    init(plain dictionary: [AnyHashable: Any], depth: Int = 0) {
        self.init()
        for (key, value) in dictionary {
            guard let key = key.base as? String, let value = JSONValue(plain: value, depth: depth + 1) else { continue }
            self[key] = value
        }
    }
}

extension JSONValue {
    /// Property lists nest no deeper than this, or what is deeper is left out.
    private static let mostDepth = 32

    /// A value of a dictionary such as `userInfo`; `nil` when it has no form in JSON.
    init?(plain value: Any, depth: Int = 0) {
        guard depth < Self.mostDepth else { return nil }
        switch value {
        case let value as JSONValue: self = value
        case let text as String: self = .string(text)
        case let dictionary as [AnyHashable: Any]: self = .object(JSONObject(plain: dictionary, depth: depth))
        case let list as [Any]: self = .array(list.compactMap { JSONValue(plain: $0, depth: depth + 1) })
        default:
            guard let number = Self.scalar(value) else { return nil }
            self = number
        }
    }

    /// Apple's `NSNumber` converts to whatever is asked for, so its class is asked first.
    private static func scalar(_ value: Any) -> JSONValue? {
        let isFlag = value is Bool && (type(of: value) == Bool.self || "\(type(of: value))".hasSuffix("CFBoolean"))
        if isFlag, let flag = value as? Bool { return .bool(flag) }
        if let number = value as? Int64 { return .int(number) }
        if let number = value as? any BinaryInteger { return Int64(exactly: number).map { .int($0) } }
        if let number = value as? Double { return number.isFinite ? .double(number) : nil }
        if let number = value as? any BinaryFloatingPoint {
            let number = Double(number)
            return number.isFinite ? .double(number) : nil
        }
        return nil
    }
}
