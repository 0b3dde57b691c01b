import JSON

/// Reads JSON whose every member counts: an object that writes one twice is refused.
enum StrictJSON {
    /// The object of a text; nil when it is none, breaks a limit, or has a member twice.
    ///
    /// What is wrong inside is nobody's business but its maker's.
    static func object(_ bytes: [UInt8], limits: JSONLimits) -> JSONObject? {
        guard let value = parsed(bytes, limits), let object = value.objectValue,
            memberCount(of: value) == memberCount(in: bytes)
        else { return nil }
        return object
    }

    private static func parsed(_ bytes: [UInt8], _ limits: JSONLimits) -> JSONValue? {
        do throws(JSONError) {
            return try JSONParser.parse(bytes, limits: limits)
        } catch {
            return nil
        }
    }

    /// How many members the text writes: its colons outside strings.
    ///
    /// The parser keeps one member of each name, so that a member written twice shows as a
    /// difference from the value's count.
    private static func memberCount(in text: [UInt8]) -> Int {
        var count = 0
        var isInString = false
        var index = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\\"): index += 1
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: ":") where !isInString: count += 1
            default: break
            }
            index += 1
        }
        return count
    }

    private static func memberCount(of value: JSONValue) -> Int {
        switch value {
        case .object(let object): object.count + object.values.reduce(0) { $0 + memberCount(of: $1) }
        case .array(let values): values.reduce(0) { $0 + memberCount(of: $1) }
        default: 0
        }
    }
}
