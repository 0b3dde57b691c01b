// Directives that are applied: they exist, may stand where they stand, as often as they do,
// and have their arguments.
extension SDLValidator {
    /// Directives of one location; those of a type and of its extensions share an `owner`.
    mutating func validate(_ directives: [Directive], at location: DirectiveLocation, owner: String? = nil) {
        var here: [String: SourceLocation] = [:]
        for directive in directives {
            validateArguments(directive.arguments)
            guard let definition = self.directives[directive.name] else {
                report("Unknown directive \"@\(directive.name)\".", directive.location)
                continue
            }
            if !definition.locations.contains(location) {
                let message = "Directive \"@\(directive.name)\" may not be used on \(location.rawValue)."
                report(message, directive.location)
            }
            let first =
                owner.map { use(directive.name, of: $0, at: directive.location) }
                ?? here.updateValue(directive.location, forKey: directive.name)
            if let first, !definition.isRepeatable {
                let message = "The directive \"@\(directive.name)\" can only be used once at this location."
                report(message, first, directive.location)
            }
            validateArguments(of: directive, definition)
        }
    }

    private mutating func validateArguments(_ arguments: [ArgumentNode]) {
        for (name, locations) in Self.repeated(arguments.map { ($0.name, $0.location) }) {
            report("There can be only one argument named \"\(name)\".", locations)
        }
        for argument in arguments { validateObjects(in: argument.value) }
    }

    private mutating func validateArguments(of directive: Directive, _ definition: DirectiveDefinition) {
        let names = definition.arguments.map(\.name)
        for argument in directive.arguments where !names.contains(argument.name) {
            let ending = suggestions.similar(to: argument.name, among: names)
            report(
                "Unknown argument \"\(argument.name)\" on directive \"@\(directive.name)\"." + ending,
                argument.location
            )
        }
        for argument in definition.arguments
        where argument.type.isNonNull && argument.defaultValue == nil && directive.argument(argument.name) == nil {
            let subject = "Directive \"@\(directive.name)\" argument \"\(argument.name)\" of type \"\(argument.type)\""
            report(subject + " is required, but it was not provided.", directive.location)
        }
    }

    /// GraphQL §5.6.3: a field of an input object is given once.
    mutating func validateObjects(in value: Value) {
        switch value.kind {
        case .list(let values): for item in values { validateObjects(in: item) }
        case .object(let fields):
            var first: [String: SourceLocation] = [:]
            for field in fields {
                if let location = first[field.name] {
                    report("There can be only one input field named \"\(field.name)\".", location, field.location)
                } else {
                    first[field.name] = field.location
                }
                validateObjects(in: field.value)
            }
        default: break
        }
    }
}
