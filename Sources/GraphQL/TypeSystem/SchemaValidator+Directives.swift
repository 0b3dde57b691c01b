// Directives (GraphQL §3.13): their definitions, and the values they are applied with.
extension SchemaValidator {
    mutating func validateDirectives() {
        for directive in schema.directives {
            validateName(directive.name, directive.location)
            validateArguments(directive.arguments.map(Schema.InputValue.init), of: "@\(directive.name)")
        }
        for (directive, way) in DirectiveCycles(schema: schema).found() {
            report(
                "Directive @\(directive.name) must not reference itself, as it does through \(way).",
                directive.location
            )
        }
    }

    /// The arguments directives are applied with, in as far as their types tell
    /// without knowing custom scalars.
    mutating func validateValues(of directives: [Directive]) {
        for directive in directives {
            let definition = schema.directive(named: directive.name)
            for argument in directive.arguments {
                guard let type = definition?.arguments.first(where: { $0.name == argument.name })?.type else {
                    continue
                }
                if !fits(argument.value, type) {
                    let text = printValue(argument.value)
                    report("Argument \"\(argument.name)\" has invalid value \(text).", argument.value.location)
                }
            }
        }
    }

    /// Whether a constant can be coerced to a type (GraphQL §3.10 "Input Coercion" and its likes);
    /// anything is a custom scalar.
    ///
    /// What is not given is not looked at: default values are checked where they are defined.
    func fits(_ value: Value, _ type: TypeReference) -> Bool {
        switch (value.kind, type) {
        case (.null, .nonNull): return false
        case (_, .nonNull(let inner)): return fits(value, inner)
        case (.null, _): return true
        case (.list(let values), .list(let element)): return values.allSatisfy { fits($0, element) }
        case (_, .list(let element)): return fits(value, element)
        case (_, .named(let name)):
            guard let named = schema.type(named: name) else { return true }
            return fits(value, named)
        }
    }

    private func fits(_ value: Value, _ type: Schema.NamedType) -> Bool {
        switch type.kind {
        case .scalar:
            guard let scalar = BuiltInScalar(rawValue: type.name) else { return true }
            return (try? scalar.coerceLiteral(value)) != nil
        case .enumeration: return type.enumValues.contains { $0.name == value.enumValue }
        case .inputObject:
            guard let given = value.objectValue else { return false }
            let isComplete = type.inputFields.allSatisfy { field in
                !field.isRequired || given.contains { $0.name == field.name }
            }
            return isComplete
                && given.allSatisfy { field in
                    guard let definition = type.inputField(named: field.name) else { return false }
                    if type.isOneOf, case .null = field.value.kind { return false }
                    return fits(field.value, definition.type)
                }
                && (!type.isOneOf || given.count == 1)
        // Told where the type is used.
        case .object, .interface, .union: return true
        }
    }
}
