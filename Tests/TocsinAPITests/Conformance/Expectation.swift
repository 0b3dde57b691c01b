import JSON

/// Compares a response with what a case expects, placeholders filled in.
struct Expectation {
    /// Values that earlier steps have kept.
    var kept: [String: JSONValue] = [:]
    private(set) var differences: [String] = []

    mutating func compare(_ actual: JSONValue?, with expected: JSONValue, at path: String = "") {
        guard let actual else { return note("\(path) is absent") }
        switch (expected, actual) {
        case (.string(let text), _) where text.hasPrefix("<") && text.hasSuffix(">"):
            compare(actual, withPlaceholder: String(text.dropFirst().dropLast()), at: path)
        case (.object(let members), .object(let values)):
            let isOpen = members["..."] != nil
            for member in members where member.key != "..." {
                compare(values[member.key], with: member.value, at: "\(path).\(member.key)")
            }
            for value in values where !isOpen && members[value.key] == nil { note("\(path).\(value.key) is too much") }
        case (.array(let elements), .array(let values)):
            guard elements.count == values.count else {
                return note("\(path) has \(values.count) elements, not \(elements.count)")
            }
            for (index, element) in elements.enumerated() {
                compare(values[index], with: element, at: "\(path)[\(index)]")
            }
        default:
            if filled(expected) != actual {
                note("\(path) is \(actual.serializedString()), not \(expected.serializedString())")
            }
        }
    }

    private mutating func compare(_ actual: JSONValue, withPlaceholder name: String, at path: String) {
        let parts = name.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = parts.count > 1 ? parts[1] : ""
        let holds: Bool
        switch parts[0] {
        case "any": holds = true
        case "string": holds = actual.stringValue != nil
        case "int": holds = actual.intValue != nil
        case "time": holds = actual.stringValue?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil
        case "milliseconds": holds = actual.intValue.map { $0 > 1_000_000_000_000 } ?? false
        case "contains": holds = actual.stringValue?.contains(rest) ?? false
        case "keep":
            kept[rest] = actual
            holds = !actual.isNull
        case "same": holds = kept[rest] == actual
        case "other": holds = kept[rest] != actual
        default: holds = false
        }
        if !holds { note("\(path) is \(actual.serializedString()), not <\(name)>") }
    }

    private mutating func note(_ text: String) { differences.append(text) }

    /// The value with `$name` replaced by what was kept under it: a whole text by the
    /// value, a part by its text.
    func filled(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text):
            if text.hasPrefix("$"), let whole = kept[String(text.dropFirst())] { return whole }
            return .string(filled(text))
        case .array(let elements): return .array(elements.map(filled))
        case .object(let members): return .object(JSONObject(members.map { ($0.key, filled($0.value)) }))
        default: return value
        }
    }

    /// Documents name kept values as `%name%`.
    func filled(_ text: String) -> String {
        kept.reduce(text) { text, entry in
            text.replacing("%\(entry.key)%", with: entry.value.stringValue ?? entry.value.serializedString())
        }
    }
}
