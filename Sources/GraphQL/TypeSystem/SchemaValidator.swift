/// Whether a schema keeps the rules of GraphQL §3 ("Type Validation" of each kind of type).
struct SchemaValidator {
    let schema: Schema
    private(set) var errors: [GraphQLError] = []

    init(schema: Schema) {
        self.schema = schema
    }

    mutating func validate() {
        validateRootTypes()
        for directive in schema.directives { validate(directive) }
        let builtIns = Set(BuiltIns.document.definitions.compactMap { TypeDraft($0)?.name })
        for type in schema.types where !type.isIntrospection || !builtIns.contains(type.name) {
            validateName(type.name, type.location)
            switch type.kind {
            case .object, .interface:
                validateFields(of: type)
                validateInterfaces(of: type)
            case .union: validateMembers(of: type)
            case .enumeration: validateValues(of: type)
            case .inputObject: validateInputFields(of: type)
            case .scalar: break
            }
            validate(type.directives, at: type.directiveLocation)
        }
        validateInputCycles()
    }

    mutating func report(_ message: String, _ location: SourceLocation) {
        errors.append(GraphQLError(message, locations: [location]))
    }

    private mutating func validateRootTypes() {
        var seen: Set<OperationKind> = []
        for root in schema.parts.definition.rootTypes {
            if !seen.insert(root.kind).inserted {
                report("There can be only one \(root.kind.rawValue) type in schema.", root.location)
            }
            guard let type = schema.type(named: root.type) else {
                report("Unknown type \"\(root.type)\".", root.location)
                continue
            }
            if type.kind != .object {
                report(
                    "The \(root.kind.rawValue) root type must be Object type, it cannot be \(type.name).",
                    root.location
                )
            }
        }
        validate(schema.appliedDirectives, at: .schema)
    }

    private mutating func validate(_ directive: DirectiveDefinition) {
        validateName(directive.name, directive.location)
        validate(directive.arguments.map(Schema.InputValue.init), of: "@\(directive.name)")
    }

    private mutating func validateFields(of type: Schema.NamedType) {
        if type.fields.isEmpty { report("Type \(type.name) must define one or more fields.", type.location) }
        var names: Set<String> = []
        for field in type.fields {
            validateName(field.name, field.location)
            if !names.insert(field.name).inserted {
                report("Field \"\(field.coordinate)\" can only be defined once.", field.location)
            }
            if let named = known(field.type, field.location), named.kind == .inputObject {
                report("The type of \(field.coordinate) must be Output Type but got: \(field.type).", field.location)
            }
            validate(field.arguments, of: field.coordinate)
            validate(field.directives, at: .fieldDefinition)
        }
    }

    private mutating func validate(_ values: [Schema.InputValue], of owner: String) {
        var names: Set<String> = []
        for value in values {
            validateName(value.name, value.location)
            let coordinate = "\(owner)(\(value.name):)"
            if !names.insert(value.name).inserted {
                report("Argument \"\(coordinate)\" can only be defined once.", value.location)
            }
            if let named = known(value.type, value.location), !named.isInput {
                report("The type of \(coordinate) must be Input Type but got: \(value.type).", value.location)
            }
            if value.isRequired, value.deprecationReason != nil {
                report("Required argument \(coordinate) cannot be deprecated.", value.location)
            }
            validate(value.directives, at: .argumentDefinition)
        }
    }

    private mutating func validateMembers(of type: Schema.NamedType) {
        if type.members.isEmpty {
            report("Union type \(type.name) must define one or more member types.", type.location)
        }
        var names: Set<String> = []
        for member in type.members {
            if !names.insert(member).inserted {
                report("Union type \(type.name) can only include type \(member) once.", type.location)
            }
            if let named = known(.named(member), type.location), named.kind != .object {
                report(
                    "Union type \(type.name) can only include Object types, it cannot include \(member).",
                    type.location
                )
            }
        }
    }

    private mutating func validateValues(of type: Schema.NamedType) {
        if type.enumValues.isEmpty { report("Enum type \(type.name) must define one or more values.", type.location) }
        var names: Set<String> = []
        for value in type.enumValues {
            validateName(value.name, type.location)
            if !names.insert(value.name).inserted {
                report("Enum value \"\(type.name).\(value.name)\" can only be defined once.", type.location)
            }
            validate(value.directives, at: .enumValue)
        }
    }

    private mutating func validateInputFields(of type: Schema.NamedType) {
        if type.inputFields.isEmpty {
            report("Input Object type \(type.name) must define one or more fields.", type.location)
        }
        var names: Set<String> = []
        for field in type.inputFields {
            let coordinate = "\(type.name).\(field.name)"
            validateName(field.name, field.location)
            if !names.insert(field.name).inserted {
                report("Field \"\(coordinate)\" can only be defined once.", field.location)
            }
            if let named = known(field.type, field.location), !named.isInput {
                report("The type of \(coordinate) must be Input Type but got: \(field.type).", field.location)
            }
            if type.isOneOf, field.type.isNonNull {
                report("OneOf input field \(coordinate) must be nullable.", field.location)
            }
            if type.isOneOf, field.defaultValue != nil {
                report("OneOf input field \(coordinate) cannot have a default value.", field.location)
            }
            if field.isRequired, field.deprecationReason != nil {
                report("Required input field \(coordinate) cannot be deprecated.", field.location)
            }
            validate(field.directives, at: .inputFieldDefinition)
        }
    }
}

// What the rules above rest on.
extension SchemaValidator {
    private mutating func known(_ type: TypeReference, _ location: SourceLocation) -> Schema.NamedType? {
        let named = schema.type(named: type.namedType)
        if named == nil { report("Unknown type \"\(type.namedType)\".", location) }
        return named
    }

    private mutating func validateName(_ name: String, _ location: SourceLocation) {
        guard name.hasPrefix("__") else { return }
        report(
            "Name \"\(name)\" must not begin with \"__\", which is reserved by GraphQL introspection.",
            location
        )
    }

    private mutating func validate(_ directives: [Directive], at location: DirectiveLocation) {
        var names: Set<String> = []
        for directive in directives {
            guard let definition = schema.directive(named: directive.name) else {
                report("Unknown directive \"@\(directive.name)\".", directive.location)
                continue
            }
            if !names.insert(directive.name).inserted, !definition.isRepeatable {
                report(
                    "The directive \"@\(directive.name)\" can only be used once at this location.",
                    directive.location
                )
            }
            if !definition.locations.contains(location) {
                let place = location.rawValue.lowercased().split(separator: "_").joined(separator: " ")
                report("Directive \"@\(directive.name)\" may not be used on \(place).", directive.location)
            }
            validateArguments(of: directive, definition)
        }
    }

    private mutating func validateArguments(of directive: Directive, _ definition: DirectiveDefinition) {
        var names: Set<String> = []
        for argument in directive.arguments {
            if !names.insert(argument.name).inserted {
                report("There can be only one argument named \"\(argument.name)\".", argument.location)
            }
            guard let type = definition.arguments.first(where: { $0.name == argument.name })?.type else {
                report("Unknown argument \"\(argument.name)\" on directive \"@\(directive.name)\".", argument.location)
                continue
            }
            // Other directives may take custom scalars, whose rules are known only later.
            if type.namedType == "String", LiteralCoercion(schema: schema).coerce(argument.value, to: type) == nil {
                let value = printValue(argument.value)
                report("Argument \"\(argument.name)\" has invalid value \(value).", argument.value.location)
            }
        }
        for argument in definition.arguments.map(Schema.InputValue.init)
        where argument.isRequired && directive.argument(argument.name) == nil {
            report(
                "Directive \"@\(directive.name)\" argument \"\(argument.name)\" of type \"\(argument.type)\" is required, but it was not provided.",
                directive.location
            )
        }
    }

    /// GraphQL §3.10: no input object may need itself.
    ///
    /// Walks only fields that must be given.
    private mutating func validateInputCycles() {
        var finished: Set<String> = []
        for type in schema.types where type.kind == .inputObject {
            var open: [String] = []
            findCycle(from: type, &open, &finished)
        }
    }

    private mutating func findCycle(
        from type: Schema.NamedType,
        _ open: inout [String],
        _ finished: inout Set<String>
    ) {
        guard !finished.contains(type.name), open.count < 200 else { return }
        if open.contains(type.name) {
            let path = open.joined(separator: ", ")
            return report("Invalid circular reference: the Input Objects \(path) need each other.", type.location)
        }
        open.append(type.name)
        for field in type.inputFields {
            guard case .nonNull(.named(let name)) = field.type, let next = schema.type(named: name) else { continue }
            findCycle(from: next, &open, &finished)
        }
        open.removeLast()
        finished.insert(type.name)
    }
}
