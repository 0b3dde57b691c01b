import JSON
import TocsinCore

extension ModelType {
    /// The stored values of a create or update input that has been coerced against the schema.
    func input(from object: JSONObject) -> RecordInput {
        var input = RecordInput(minimumCapacity: object.count)
        for member in object {
            guard let position = position(of: member.key), fields[position].role == .declared else { continue }
            input[member.key] = fields[position].value(from: member.value)
        }
        return input
    }
}

extension ModelField {
    /// The stored value of a coerced input value.
    func value(from json: JSONValue) -> FieldValue {
        if json.isNull { return .null }
        switch kind {
        case .json: return .json(json.serializedString())
        case .bool: return json.boolValue.map(FieldValue.bool) ?? .null
        case .double: return json.doubleValue.map(FieldValue.double) ?? .null
        case .int: return json.intValue.map(FieldValue.int) ?? .null
        case .text: return json.stringValue.map(FieldValue.text) ?? .null
        }
    }
}
