import GraphQL
import JSON
import TocsinCore

/// Objects kept inside records: their fields are members of stored JSON.
enum EmbeddedResolvers {
    static func register(_ type: EmbeddedType, in map: inout ResolverMap<APIObject, RequestContext>) {
        for field in type.fields {
            let name = field.name
            if field.isEmbedded {
                map.value("\(type.name).\(name)") { object, _ in value(member(name, of: object)) }
            } else {
                map.leaf("\(type.name).\(name)") { object, out in out.json(member(name, of: object)) }
            }
        }
    }

    /// A stored object, or lists of objects, as what is resolved next.
    static func value(_ json: JSONValue) -> ResolvedValue<APIObject> {
        switch json {
        case .object(let object): .object(.embedded(object))
        case .array(let values): .list(values.map(value))
        default: .null
        }
    }

    /// A member of an object; null for none.
    static func member(_ name: String, of object: APIObject) -> JSONValue {
        guard case .embedded(let members) = object else { return .null }
        return members[name] ?? .null
    }
}

extension APISchema {
    /// Whether the field's values are objects inside the record.
    func isEmbedded(_ field: ModelField) -> Bool { embedded.contains { $0.name == field.typeName } }
}
