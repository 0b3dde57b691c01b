import JSON

/// Input coercion of values from variables, with every mistake and its place (GraphQL §3.4.3 and each kind of type).
struct InputCoercion {
    let schema: Schema
    /// How many mistakes are told before coercion stops.
    let maximumErrors: Int
    let suggestions: Suggestions
    private(set) var problems: [Problem] = []

    /// One mistake.
    struct Problem {
        /// The steps from the outermost value.
        var path: [PathElement]
        var message: String
    }

    init(schema: Schema, maximumErrors: Int = 50, suggestions: Suggestions = Suggestions(isOn: true)) {
        self.schema = schema
        self.maximumErrors = maximumErrors
        self.suggestions = suggestions
    }

    /// The coerced value, or `nil` when there was a mistake, which is then among the problems.
    mutating func coerce(_ value: JSONValue, to type: TypeReference, at path: [PathElement] = []) -> JSONValue? {
        if case .nonNull(let inner) = type {
            guard !value.isNull else {
                return refuse("Expected non-nullable type \"\(type)\" not to be null.", path)
            }
            return coerce(value, to: inner, at: path)
        }
        if value.isNull { return .null }
        if case .list(let element) = type { return coerceList(value, of: element, at: path) }
        guard let named = schema.type(named: type.namedType) else {
            return refuse("Unknown type \"\(type.namedType)\".", path)
        }
        switch named.kind {
        case .scalar: return coerceScalar(value, named, at: path)
        case .enumeration: return coerceEnum(value, named, at: path)
        case .inputObject: return coerceObject(value, named, at: path)
        case .object, .interface, .union: return refuse("\"\(named.name)\" is no input type.", path)
        }
    }

    private mutating func coerceList(
        _ value: JSONValue,
        of element: TypeReference,
        at path: [PathElement]
    ) -> JSONValue? {
        guard case .array(let values) = value else {
            return coerce(value, to: element, at: path).map { .array([$0]) }
        }
        var result: [JSONValue] = []
        result.reserveCapacity(values.count)
        for (index, item) in values.enumerated() where problems.count < maximumErrors {
            if let item = coerce(item, to: element, at: path + [.index(index)]) { result.append(item) }
        }
        return result.count == values.count ? .array(result) : nil
    }

    private mutating func coerceScalar(
        _ value: JSONValue,
        _ type: Schema.NamedType,
        at path: [PathElement]
    ) -> JSONValue? {
        do throws(CoercionError) {
            if let scalar = BuiltInScalar(rawValue: type.name) { return try scalar.coerceInput(value) }
            return try schema.scalarCoercions[type.name]?(value) ?? value
        } catch {
            return refuse(error.message, path)
        }
    }

    private mutating func coerceEnum(
        _ value: JSONValue,
        _ type: Schema.NamedType,
        at path: [PathElement]
    ) -> JSONValue? {
        guard let name = value.stringValue else {
            let text = BuiltInScalar.text(value)
            return refuse(
                "Enum \"\(type.name)\" cannot represent non-string value: \(text)."
                    + suggestions.values(like: text, of: type),
                path
            )
        }
        guard type.enumValues.contains(where: { $0.name == name }) else {
            return refuse(
                "Value \"\(name)\" does not exist in \"\(type.name)\" enum." + suggestions.values(like: name, of: type),
                path
            )
        }
        return value
    }

    private mutating func coerceObject(
        _ value: JSONValue,
        _ type: Schema.NamedType,
        at path: [PathElement]
    ) -> JSONValue? {
        guard let given = value.objectValue else {
            return refuse("Expected type \"\(type.name)\" to be an object.", path)
        }
        let before = problems.count
        var result = JSONObject()
        for field in type.inputFields where problems.count < maximumErrors {
            if let value = given[field.name] {
                result[field.name] = coerce(value, to: field.type, at: path + [.key(field.name)])
            } else if let value = field.defaultValue {
                result[field.name] = LiteralCoercion(schema: schema).coerce(value, to: field.type)
            } else if field.type.isNonNull {
                refuse("Field \"\(field.name)\" of required type \"\(field.type)\" was not provided.", path)
            }
        }
        for member in given where problems.count < maximumErrors && type.inputField(named: member.key) == nil {
            let ending = suggestions.similar(to: member.key, among: type.inputFields.map(\.name))
            refuse("Field \"\(member.key)\" is not defined by type \"\(type.name)\"." + ending, path)
        }
        if type.isOneOf { requireOneField(given, type, at: path) }
        return problems.count == before ? .object(result) : nil
    }

    private mutating func requireOneField(_ given: JSONObject, _ type: Schema.NamedType, at path: [PathElement]) {
        let known = given.filter { type.inputField(named: $0.key) != nil }
        if known.count != 1 {
            refuse("Exactly one key must be specified for OneOf type \"\(type.name)\".", path)
        } else if let member = known.first(where: { $0.value.isNull }) {
            refuse("Field \"\(member.key)\" must be non-null.", path + [.key(member.key)])
        }
    }

    @discardableResult
    private mutating func refuse(_ message: String, _ path: [PathElement]) -> JSONValue? {
        if problems.count < maximumErrors { problems.append(Problem(path: path, message: message)) }
        return nil
    }
}
