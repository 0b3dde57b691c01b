import JSON

/// Coerces the values of variables, and collects every mistake with its path (GraphQL §3.4.3 and
/// each kind of type).
struct InputCoercion {
    let schema: Schema
    /// How many mistakes are told before coercion stops.
    let maximumErrors: Int
    let suggestions: Suggestions
    private(set) var problems: [Problem] = []

    /// One mistake.
    struct Problem {
        /// The steps from the outermost value; complete once that value has been coerced.
        var path: [PathElement]
        var message: String
    }

    init(schema: Schema, maximumErrors: Int = 50, suggestions: Suggestions = Suggestions(isOn: true)) {
        self.schema = schema
        self.maximumErrors = maximumErrors
        self.suggestions = suggestions
    }

    /// The coerced value; `nil` when there was a mistake, which is added to the problems.
    mutating func coerce(_ value: JSONValue, to type: TypeReference) -> JSONValue? {
        if case .nonNull(let inner) = type {
            guard !value.isNull else {
                return refuse("Expected non-nullable type \"\(type)\" not to be null.")
            }
            return coerce(value, to: inner)
        }
        if value.isNull { return .null }
        if case .list(let element) = type { return coerceList(value, of: element) }
        guard let number = schema.number(ofType: type.namedType) else {
            return refuse("Unknown type \"\(type.namedType)\".")
        }
        let named = schema.types[Int(number.value)]
        switch named.kind {
        case .scalar: return coerceScalar(value, named)
        case .enumeration: return coerceEnum(value, named)
        case .inputObject: return coerceObject(value, named, number)
        case .object, .interface, .union: return refuse("\"\(named.name)\" is no input type.")
        }
    }

    /// Coerces the value one step below.
    ///
    /// Mistakes get their paths on the way out, so a value without mistakes costs no path.
    private mutating func coerce(
        _ value: JSONValue,
        to type: TypeReference,
        at step: @autoclosure () -> PathElement
    ) -> JSONValue? {
        let before = problems.count
        let result = coerce(value, to: type)
        for index in before..<problems.count { problems[index].path.insert(step(), at: 0) }
        return result
    }

    private mutating func coerceList(_ value: JSONValue, of element: TypeReference) -> JSONValue? {
        guard case .array(let values) = value else { return coerce(value, to: element).map { .array([$0]) } }
        var result: [JSONValue] = []
        result.reserveCapacity(values.count)
        for (index, item) in values.enumerated() where problems.count < maximumErrors {
            if let item = coerce(item, to: element, at: .index(index)) { result.append(item) }
        }
        return result.count == values.count ? .array(result) : nil
    }

    private mutating func coerceScalar(_ value: JSONValue, _ type: Schema.NamedType) -> JSONValue? {
        do throws(CoercionError) {
            if let scalar = type.builtInScalar { return try scalar.coerceInput(value) }
            return try schema.scalarCoercions[type.name]?(value) ?? value
        } catch {
            return refuse(error.message)
        }
    }

    private mutating func coerceScalar(
        _ value: JSONValue,
        _ scalar: BuiltInScalar,
        at step: @autoclosure () -> PathElement
    ) -> JSONValue? {
        do throws(CoercionError) {
            return try scalar.coerceInput(value)
        } catch {
            return refuse(error.message, at: [step()])
        }
    }

    private mutating func coerceEnum(_ value: JSONValue, _ type: Schema.NamedType) -> JSONValue? {
        guard let name = value.stringValue else {
            let text = BuiltInScalar.text(value)
            return refuse(
                "Enum \"\(type.name)\" cannot represent non-string value: \(text)."
                    + suggestions.values(like: text, of: type)
            )
        }
        guard type.enumValues.contains(where: { $0.name == name }) else {
            return refuse(
                "Value \"\(name)\" does not exist in \"\(type.name)\" enum." + suggestions.values(like: name, of: type)
            )
        }
        return value
    }

    private mutating func coerceObject(
        _ value: JSONValue,
        _ type: Schema.NamedType,
        _ number: TypeNumber
    ) -> JSONValue? {
        guard case .object(let given) = value else {
            return refuse("Expected type \"\(type.name)\" to be an object.")
        }
        let before = problems.count
        // By index, because a copy of a definition retains all its texts.
        let fields = type.inputFields
        let result = withUnsafeTemporaryAllocation(of: Int.self, capacity: fields.count) { positions in
            positions.initialize(repeating: -1)
            var isKnown = true
            for position in 0..<given.count {
                if let field = schema.fieldIndex(ofInput: given.key(at: position), of: number) {
                    positions[field] = position
                } else {
                    isKnown = false
                }
            }
            let result = coerceFields(fields, of: given, at: positions)
            if !isKnown { refuseUnknown(given, type, number) }
            return result
        }
        if type.isOneOf { requireOneField(given, type) }
        return problems.count == before ? .object(result) : nil
    }

    /// Coerces the fields of an object in their type's order.
    ///
    /// `positions` says where each field was given; it is below zero for a field that was not.
    private mutating func coerceFields(
        _ fields: [Schema.InputValue],
        of given: JSONObject,
        at positions: UnsafeMutableBufferPointer<Int>
    ) -> JSONObject {
        var result = JSONObject()
        result.reserveCapacity(given.count)
        for index in fields.indices where problems.count < maximumErrors {
            let name = fields[index].name
            let coerced: JSONValue?
            if positions[index] >= 0 {
                let value = given.value(at: positions[index])
                if !value.isNull, let scalar = fields[index].builtInScalar {
                    coerced = coerceScalar(value, scalar, at: .key(name))
                } else {
                    coerced = coerce(value, to: fields[index].type, at: .key(name))
                }
            } else if let value = fields[index].defaultValue {
                coerced = LiteralCoercion(schema: schema).coerce(value, to: fields[index].type)
            } else {
                if fields[index].type.isNonNull {
                    refuse("Field \"\(name)\" of required type \"\(fields[index].type)\" was not provided.")
                }
                continue
            }
            if let coerced { result.append(name, coerced) }
        }
        return result
    }

    private mutating func refuseUnknown(_ given: JSONObject, _ type: Schema.NamedType, _ number: TypeNumber) {
        for member in given
        where problems.count < maximumErrors && schema.fieldIndex(ofInput: member.key, of: number) == nil {
            let ending = suggestions.similar(to: member.key, among: type.inputFields.map(\.name))
            refuse("Field \"\(member.key)\" is not defined by type \"\(type.name)\"." + ending)
        }
    }

    private mutating func requireOneField(_ given: JSONObject, _ type: Schema.NamedType) {
        let known = given.filter { type.inputField(named: $0.key) != nil }
        if known.count != 1 {
            refuse("Exactly one key must be specified for OneOf type \"\(type.name)\".")
        } else if let member = known.first(where: { $0.value.isNull }) {
            refuse("Field \"\(member.key)\" must be non-null.", at: [.key(member.key)])
        }
    }

    @discardableResult
    private mutating func refuse(_ message: String, at path: [PathElement] = []) -> JSONValue? {
        if problems.count < maximumErrors { problems.append(Problem(path: path, message: message)) }
        return nil
    }
}
