import JSON
import TocsinCore

extension ModelType {
    /// The stored values of a create or update input that has been coerced against the schema.
    func input(from object: JSONObject) -> RecordInput {
        var input = RecordInput(of: self, capacity: object.count)
        for member in object {
            guard let position = position(of: member.key), let kind = inputKinds[position] else { continue }
            input.append(kind.value(from: member.value), at: position)
        }
        return input
    }
}

extension ModelField {
    /// The stored value of a coerced input value.
    func value(from json: JSONValue) -> FieldValue { kind.value(from: json) }
}

extension ModelField.Kind {
    /// The stored value of a coerced input value.
    func value(from json: JSONValue) -> FieldValue {
        switch (self, json) {
        case (_, .null): .null
        case (.text, .string(let text)): .text(text)
        case (.bool, .bool(let flag)): .bool(flag)
        case (.int, _): json.intValue.map(FieldValue.int) ?? .null
        case (.double, _): json.doubleValue.map(FieldValue.double) ?? .null
        case (.json, _): .json(json.serializedString())
        case (.text, _), (.bool, _): .null
        }
    }
}
