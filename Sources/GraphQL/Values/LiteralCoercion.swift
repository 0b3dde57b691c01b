import JSON

/// Input coercion of values written in a document, which validation has found to fit their types.
///
/// A variable inside a value was coerced before and is put in as it is.
struct LiteralCoercion {
    let schema: Schema
    /// The coerced variables; an absent one has no member.
    var variables = JSONObject()

    /// The coerced value, or `nil` when it does not fit the type or is an absent variable.
    func coerce(_ value: Value, to type: TypeReference) -> JSONValue? {
        if case .variable(let name) = value.kind {
            guard let value = variables[name], !(value.isNull && type.isNonNull) else { return nil }
            return value
        }
        if case .nonNull(let inner) = type {
            if case .null = value.kind { return nil }
            return coerce(value, to: inner)
        }
        if case .null = value.kind { return .null }
        if case .list(let element) = type { return coerceList(value, of: element) }
        guard let named = schema.type(named: type.namedType) else { return nil }
        switch named.kind {
        case .scalar: return try? coerceScalar(value, named)
        case .enumeration:
            guard let name = value.enumValue, named.enumValues.contains(where: { $0.name == name }) else { return nil }
            return .string(name)
        case .inputObject: return coerceObject(value, named)
        case .object, .interface, .union: return nil
        }
    }

    /// A scalar's own check of a value that holds no variables it would have to see.
    func coerceScalar(_ value: Value, _ type: Schema.NamedType) throws(CoercionError) -> JSONValue {
        if let scalar = type.builtInScalar { return try scalar.coerceLiteral(value) }
        let json = value.json { variables[$0] } ?? .null
        return try schema.scalarCoercions[type.name]?(json) ?? json
    }

    private func coerceList(_ value: Value, of element: TypeReference) -> JSONValue? {
        guard let values = value.listValue else { return coerce(value, to: element).map { .array([$0]) } }
        var result: [JSONValue] = []
        for item in values {
            if let item = coerce(item, to: element) {
                result.append(item)
            } else if case .variable = item.kind, !element.isNonNull {
                result.append(.null)
            } else {
                return nil
            }
        }
        return .array(result)
    }

    private func coerceObject(_ value: Value, _ type: Schema.NamedType) -> JSONValue? {
        guard let given = value.objectValue else { return nil }
        var result = JSONObject()
        for field in type.inputFields {
            let value = given.first { $0.name == field.name }?.value
            if let value, !isAbsent(value) {
                guard let value = coerce(value, to: field.type) else { return nil }
                result[field.name] = value
            } else if let value = field.defaultValue {
                result[field.name] = LiteralCoercion(schema: schema).coerce(value, to: field.type)
            } else if field.type.isNonNull {
                return nil
            }
        }
        guard given.allSatisfy({ type.inputField(named: $0.name) != nil }) else { return nil }
        if type.isOneOf {
            guard given.count == 1, result.count == 1, result.allSatisfy({ !$0.value.isNull }) else { return nil }
        }
        return .object(result)
    }

    /// Whether this is a variable without a value.
    func isAbsent(_ value: Value) -> Bool {
        if case .variable(let name) = value.kind { variables[name] == nil } else { false }
    }
}
