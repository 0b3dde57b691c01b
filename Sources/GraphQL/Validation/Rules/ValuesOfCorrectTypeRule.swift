extension ValidationRule {
    /// Values fit the types of their places (GraphQL §5.6.1, §5.6.2, §5.6.4).
    static let valuesOfCorrectType = ValidationRule("ValuesOfCorrectType") { context in
        for use in context.facts.values {
            checkValue(use.value, use.type, &context)
            if context.isFull { return }
        }
    }
}

private func checkValue(_ value: Value, _ type: TypeReference, _ context: inout ValidationContext) {
    switch (value.kind, type) {
    case (.variable, _): return
    case (.null, .nonNull): context.report("Expected value of type \"\(type)\", found null.", value.location)
    case (_, .nonNull(let inner)): checkValue(value, inner, &context)
    case (.null, _): return
    case (.list(let values), .list(let element)):
        for item in values { checkValue(item, element, &context) }
    case (_, .list(let element)): checkValue(value, element, &context)
    case (_, .named(let name)):
        guard let named = context.schema.type(named: name) else { return }
        checkValue(value, named, &context)
    }
}

private func checkValue(_ value: Value, _ type: Schema.NamedType, _ context: inout ValidationContext) {
    switch type.kind {
    case .scalar:
        do throws(CoercionError) {
            _ = try LiteralCoercion(schema: context.schema).coerceScalar(value, type)
        } catch {
            // A custom scalar cannot judge a value before its variables are known.
            let isOpen = BuiltInScalar(rawValue: type.name) == nil && containsVariable(value)
            if !isOpen { context.report(error.message, value.location) }
        }
    case .enumeration:
        let text = printValue(value)
        if value.enumValue != nil, type.enumValues.contains(where: { $0.name == text }) { return }
        let message =
            value.enumValue == nil
            ? "Enum \"\(type.name)\" cannot represent non-enum value: \(text)."
            : "Value \"\(text)\" does not exist in \"\(type.name)\" enum."
        context.report(message + context.suggestions.values(like: text, of: type), value.location)
    case .inputObject: checkObject(value, type, &context)
    case .object, .interface, .union: return
    }
}

private func checkObject(_ value: Value, _ type: Schema.NamedType, _ context: inout ValidationContext) {
    guard let fields = value.objectValue else {
        return context.report(
            "Expected value of type \"\(type.name)\", found \(printValue(value)).",
            value.location
        )
    }
    for field in type.inputFields where field.isRequired && !fields.contains(where: { $0.name == field.name }) {
        context.report(
            "Field \"\(type.name).\(field.name)\" of required type \"\(field.type)\" was not provided.",
            value.location
        )
    }
    for field in fields {
        guard let definition = type.inputField(named: field.name) else {
            let ending = context.suggestions.similar(to: field.name, among: type.inputFields.map(\.name))
            context.report(
                "Field \"\(field.name)\" is not defined by type \"\(type.name)\"." + ending,
                field.location
            )
            continue
        }
        checkValue(field.value, definition.type, &context)
    }
    guard type.isOneOf else { return }
    if fields.count != 1 {
        context.report("OneOf Input Object \"\(type.name)\" must specify exactly one key.", value.location)
    } else if let field = fields.first, case .null = field.value.kind {
        context.report("Field \"\(type.name).\(field.name)\" must be non-null.", value.location)
    }
}

private func containsVariable(_ value: Value) -> Bool {
    switch value.kind {
    case .variable: true
    case .list(let values): values.contains(where: containsVariable)
    case .object(let fields): fields.contains { containsVariable($0.value) }
    default: false
    }
}
