extension SchemaValidator {
    /// GraphQL §3.6 and §3.7: what a type that implements interfaces must have.
    mutating func validateInterfaces(of type: Schema.NamedType) {
        var names: Set<String> = []
        for name in type.interfaces {
            guard let interface = schema.type(named: name) else { continue }
            guard interface.kind == .interface else {
                report(
                    "Type \(type.name) must only implement Interface types, it cannot implement \(name).",
                    type.location
                )
                continue
            }
            if name == type.name {
                report(
                    "Type \(name) cannot implement itself because it would create a circular reference.",
                    type.location
                )
            }
            guard names.insert(name).inserted else {
                report("Type \(type.name) can only implement \(name) once.", type.location)
                continue
            }
            validateInherited(by: type, through: interface)
            for field in interface.fields { validate(field, of: interface, in: type) }
        }
    }

    /// What an interface implements its implementations implement too.
    private mutating func validateInherited(by type: Schema.NamedType, through interface: Schema.NamedType) {
        for inherited in interface.interfaces where !type.interfaces.contains(inherited) {
            guard schema.type(named: inherited) != nil else { continue }
            report(
                inherited == type.name
                    ? "Type \(type.name) cannot implement \(interface.name) because it would create a circular reference."
                    : "Type \(type.name) must implement \(inherited) because it is implemented by \(interface.name).",
                type.location
            )
        }
    }

    private mutating func validate(
        _ expected: Schema.Field,
        of interface: Schema.NamedType,
        in type: Schema.NamedType
    ) {
        guard let field = type.field(named: expected.name) else {
            return report(
                "Interface field \(expected.coordinate) expected but \(type.name) does not provide it.",
                type.location
            )
        }
        if exists(field.type), exists(expected.type), !isSubtype(field.type, of: expected.type) {
            report(
                "Interface field \(expected.coordinate) expects type \(expected.type) but \(field.coordinate) is type \(field.type).",
                field.location
            )
        }
        for argument in expected.arguments { validate(argument, of: expected, in: field) }
        for argument in field.arguments where argument.isRequired && expected.argument(named: argument.name) == nil {
            report(
                "Object field \(field.coordinate) includes required argument \(argument.name) that is missing from the Interface field \(expected.coordinate).",
                argument.location
            )
        }
        if field.deprecationReason != nil, expected.deprecationReason == nil {
            report(
                "Interface field \(expected.coordinate) is not deprecated, so implementation field \(field.coordinate) must not be deprecated.",
                field.location
            )
        }
    }

    private mutating func validate(
        _ expected: Schema.InputValue,
        of interfaceField: Schema.Field,
        in field: Schema.Field
    ) {
        let coordinate = "\(interfaceField.coordinate)(\(expected.name):)"
        guard let argument = field.argument(named: expected.name) else {
            return report(
                "Interface field argument \(coordinate) expected but \(field.coordinate) does not provide it.",
                field.location
            )
        }
        if exists(argument.type), exists(expected.type), argument.type != expected.type {
            report(
                "Interface field argument \(coordinate) expects type \(expected.type) but \(field.coordinate)(\(expected.name):) is type \(argument.type).",
                argument.location
            )
        }
    }

    private func exists(_ type: TypeReference) -> Bool { schema.type(named: type.namedType) != nil }

    /// GraphQL §3.6 IsValidImplementationFieldType.
    private func isSubtype(_ type: TypeReference, of other: TypeReference) -> Bool {
        switch (type, other) {
        case (.nonNull(let inner), .nonNull(let otherInner)): return isSubtype(inner, of: otherInner)
        case (.nonNull(let inner), _): return isSubtype(inner, of: other)
        case (.list(let inner), .list(let otherInner)): return isSubtype(inner, of: otherInner)
        case (.named(let name), .named(let otherName)):
            guard name != otherName else { return true }
            guard let named = schema.type(named: name), let abstract = schema.type(named: otherName) else {
                return false
            }
            return abstract.kind == .union ? abstract.members.contains(name) : named.interfaces.contains(otherName)
        default: return false
        }
    }
}
