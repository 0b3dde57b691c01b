import GraphQL
import JSON
import TocsinCore

/// Owners as clients see them: of the stored `<sub>::<username>`, the part after the last `::`.
enum ShownOwner {
    /// The shown form of a single owner, or of a list of them.
    static func value(_ stored: FieldValue) -> FieldValue {
        switch stored {
        case .text(let owner): .text(text(owner))
        case .json: .json(JSONValue.array((stored.json.arrayValue ?? []).map(shown)).serializedString())
        default: stored
        }
    }

    private static func shown(_ value: JSONValue) -> JSONValue {
        value.stringValue.map { .string(text($0)) } ?? value
    }

    /// The shown form of a single owner.
    static func text(_ owner: String) -> String {
        guard let colon = owner.utf8.lastIndex(of: UInt8(ascii: ":")), colon > owner.startIndex,
            owner.utf8[owner.utf8.index(before: colon)] == UInt8(ascii: ":")
        else { return owner }
        return String(owner[owner.utf8.index(after: colon)...])
    }
}

/// A record as the `data` of an error: what the mutation selected of it, relations as null.
struct RecordProjection {
    let caller: Identity

    func json(of record: Record, _ selection: SelectedFields) -> JSONValue {
        var object = JSONObject()
        for field in selection.fields {
            object[field.responseKey] =
                field.name == "__typename"
                ? .string(record.model.name) : Self.projected(value(of: field.name, in: record), field.selection)
        }
        return .object(object)
    }

    /// What is selected of an object inside the record, or of a list of them.
    private static func projected(_ value: JSONValue, _ selection: SelectedFields) -> JSONValue {
        switch value {
        case .array(let values) where !selection.isEmpty: return .array(values.map { projected($0, selection) })
        case .object(let object) where !selection.isEmpty:
            var result = JSONObject()
            for field in selection.fields {
                result[field.responseKey] =
                    field.name == "__typename"
                    ? .string(field.typeName) : projected(object[field.name] ?? .null, field.selection)
            }
            return .object(result)
        default: return value
        }
    }

    private func value(of name: String, in record: Record) -> JSONValue {
        guard let position = record.model.position(of: name), record.isReadable(at: position, by: caller) else {
            return .null
        }
        let isOwner = record.model.ownerRules.contains { $0.field == name }
        return (isOwner ? ShownOwner.value(record.values[position]) : record.values[position]).json
    }
}

extension FieldValue {
    /// The value as JSON.
    var json: JSONValue {
        switch self {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .int(let number): .int(number)
        case .double(let number): .double(number)
        case .text(let text): .string(text)
        case .json(let text): (try? JSONParser.parse(text)) ?? .null
        }
    }
}
