// Fields, their arguments, and the members of unions and enum types (GraphQL §3.6 to §3.9).
extension SchemaValidator {
    mutating func validateFields(of type: Schema.NamedType) {
        if type.fields.isEmpty { report("Type \(type.name) must define one or more fields.", type.location) }
        for field in type.fields {
            validateName(field.name, field.location)
            if schema.type(named: field.type.namedType)?.kind == .inputObject {
                report("The type of \(field.coordinate) must be Output Type but got: \(field.type).", field.location)
            }
            validateArguments(field.arguments, of: field.coordinate)
            validateValues(of: field.directives)
        }
    }

    /// The arguments of a field or directive, whose coordinate is `owner`.
    mutating func validateArguments(_ arguments: [Schema.InputValue], of owner: String) {
        for argument in arguments {
            let coordinate = "\(owner)(\(argument.name):)"
            validateInput(argument, coordinate)
            if argument.isRequired, argument.deprecationReason != nil {
                report("Required argument \(coordinate) cannot be deprecated.", argument.location)
            }
        }
    }

    /// What arguments and the fields of input objects have in common.
    mutating func validateInput(_ value: Schema.InputValue, _ coordinate: String) {
        validateName(value.name, value.location)
        if let type = schema.type(named: value.type.namedType), !type.isInput {
            report("The type of \(coordinate) must be Input Type but got: \(value.type).", value.location)
        }
        if let literal = value.defaultValue, !fits(literal, value.type) {
            let text = printValue(literal)
            report("The default value of \(coordinate) must be of type \(value.type) but got: \(text).", value.location)
        }
        validateValues(of: value.directives)
    }

    mutating func validateMembers(of type: Schema.NamedType) {
        if type.members.isEmpty {
            report("Union type \(type.name) must define one or more member types.", type.location)
        }
        var names: Set<String> = []
        for member in type.members {
            guard let named = schema.type(named: member) else { continue }
            if named.kind != .object {
                report(
                    "Union type \(type.name) can only include Object types, it cannot include \(member).",
                    type.location
                )
            } else if !names.insert(member).inserted {
                report("Union type \(type.name) can only include type \(member) once.", type.location)
            }
        }
    }

    mutating func validateValues(of type: Schema.NamedType) {
        if type.enumValues.isEmpty { report("Enum type \(type.name) must define one or more values.", type.location) }
        for value in type.enumValues {
            validateName(value.name, type.location)
            validateValues(of: value.directives)
        }
    }
}
