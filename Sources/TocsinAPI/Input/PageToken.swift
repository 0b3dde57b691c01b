import JSON
import TocsinCore

/// Page tokens: where a page ended, sealed for one field, its arguments and one caller.
struct PageToken {
    let sealer: any Sealer
    /// What the token is good for: field, arguments without `limit` and `nextToken`, caller.
    let scope: String

    /// `parent`: what the field's own object is, where it is not the root.
    init(sealer: any Sealer, field: String, parent: String = "", arguments: JSONObject, caller: Identity) {
        self.sealer = sealer
        let lasting = arguments.filter { $0.key != "limit" && $0.key != "nextToken" && !$0.value.isNull }
        let text = JSONValue.object(JSONObject(lasting.map { ($0.key, $0.value) })).serializedString()
        scope = "page\n\(field)\n\(caller.owner)\n\(text)" + (parent.isEmpty ? "" : "\n" + parent)
    }

    func text(for position: [FieldValue]) -> String {
        let values = position.map { value -> JSONValue in
            switch value {
            case .null: .null
            case .bool(let flag): .bool(flag)
            case .int(let number): .int(number)
            case .double(let number): .double(number)
            case .text(let text), .json(let text): .string(text)
            }
        }
        return sealer.seal(JSONValue.array(values).serialized(), scope: scope)
    }

    func position(from text: String?) throws(ServiceError) -> [FieldValue]? {
        guard let text else { return nil }
        guard let bytes = sealer.open(text, scope: scope), let value = try? JSONParser.parse(bytes),
            let array = value.arrayValue
        else { throw .badPageToken }
        return array.map { value in
            switch value {
            case .bool(let flag): .bool(flag)
            case .int(let number): .int(number)
            case .double(let number): .double(number)
            case .string(let text): .text(text)
            case .null, .array, .object: .null
            }
        }
    }
}
