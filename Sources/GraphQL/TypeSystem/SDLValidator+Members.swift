// Fields, arguments and values: each is defined once, of types that exist.
extension SDLValidator {
    mutating func validateMembers(of draft: TypeDraft) {
        for field in draft.fields {
            validateOnce(field.name, of: draft, field.location)
            validateTypeName(field.type.namedType, field.location)
            validate(field.arguments, of: "\(draft.name).\(field.name)")
            validate(field.directives, at: .fieldDefinition)
        }
        for field in draft.inputFields {
            validateOnce(field.name, of: draft, field.location)
            validate(field, at: .inputFieldDefinition)
        }
        for value in draft.values {
            if let first = use(value.name, of: "\(draft.name) values", at: value.location) {
                let message = "Enum value \"\(draft.name).\(value.name)\" can only be defined once."
                report(message, first, value.location)
            }
            validate(value.directives, at: .enumValue)
        }
    }

    /// The arguments of a field or directive, whose coordinate is `owner`.
    mutating func validate(_ arguments: [InputValueDefinition], of owner: String) {
        let names = arguments.map { (name: $0.name, location: $0.location) }
        for (name, locations) in Self.repeated(names) {
            report("Argument \"\(owner)(\(name):)\" can only be defined once.", locations)
        }
        for argument in arguments { validate(argument, at: .argumentDefinition) }
    }

    private mutating func validate(_ value: InputValueDefinition, at location: DirectiveLocation) {
        validateTypeName(value.type.namedType, value.location)
        if let literal = value.defaultValue { validateObjects(in: literal) }
        validate(value.directives, at: location)
    }

    private mutating func validateOnce(_ name: String, of draft: TypeDraft, _ location: SourceLocation) {
        if let first = use(name, of: "\(draft.name) fields", at: location) {
            report("Field \"\(draft.name).\(name)\" can only be defined once.", first, location)
        }
    }

    /// The names that stand more than once, in the order of their first locations, each with all
    /// its locations.
    static func repeated(
        _ names: [(name: String, location: SourceLocation)]
    ) -> [(name: String, locations: [SourceLocation])] {
        guard names.count > 1 else { return [] }
        let locations = Dictionary(grouping: names, by: \.name)
        guard locations.count < names.count else { return [] }
        var told: Set<String> = []
        return names.compactMap { name, _ in
            guard let all = locations[name], all.count > 1, told.insert(name).inserted else { return nil }
            return (name, all.map(\.location))
        }
    }
}
