// Directives (GraphQL §3.13): their definitions, and the values they are applied with.
extension SchemaValidator {
    mutating func validateDirectives() {
        for directive in schema.directives {
            validateName(directive.name, directive.location)
            validateArguments(directive.arguments.map(Schema.InputValue.init), of: "@\(directive.name)")
        }
        let references = DirectiveCycles(schema: schema)
        for directive in schema.directives {
            guard let cycle = references.cycle(of: directive) else { continue }
            report(
                "Directive @\(directive.name) must not reference itself, as it does through \(cycle).",
                directive.location
            )
        }
    }

    /// The arguments directives are applied with, in as far as their types tell without knowing custom scalars.
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

    /// Whether a constant can be coerced to a type (GraphQL §3.10 "Input Coercion" and its likes); anything is a
    /// custom scalar.
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

/// Finds directives whose definitions use themselves.
struct DirectiveCycles {
    /// What the definitions of directives and types refer to, of those that may lead back to themselves.
    private var references: [String: [String]] = [:]

    init(schema: Schema) {
        for directive in schema.directives {
            references["@\(directive.name)"] = directive.arguments.flatMap { argument in
                Self.names(argument.directives) + [argument.type.namedType]
            }
        }
        for type in schema.types {
            let fields = type.inputFields.flatMap { Self.names($0.directives) + [$0.type.namedType] }
            references[type.name] =
                Self.names(type.directives) + fields + type.enumValues.flatMap { Self.names($0.directives) }
        }
        leaveOutEnds()
    }

    /// The way from a directive back to itself, as names; `nil` where there is none.
    func cycle(of directive: DirectiveDefinition) -> String? {
        let goal = "@\(directive.name)"
        var seen: Set<String> = []
        // Each step with the number of the one before it.
        var steps: [(name: String, before: Int?)] = []
        var next: [(name: String, before: Int?)] = references[goal, default: []].map { ($0, nil) }
        while let step = next.popLast() {
            steps.append(step)
            if step.name == goal { return way(to: steps.count - 1, in: steps) }
            guard seen.insert(step.name).inserted else { continue }
            next += references[step.name, default: []].map { ($0, steps.count - 1) }
        }
        return nil
    }

    private func way(to last: Int, in steps: [(name: String, before: Int?)]) -> String {
        var names: [String] = []
        var number: Int? = last
        while let step = number {
            names.append(steps[step].name)
            number = steps[step].before
        }
        return names.reversed().joined(separator: ", ")
    }

    /// Leaves out what refers to nothing, then what refers only to that, and so on, so that chains cost one look.
    private mutating func leaveOutEnds() {
        var users: [String: [String]] = [:]
        var counts: [String: Int] = [:]
        for (name, all) in references {
            let known = all.filter { references[$0] != nil }
            references[name] = known
            counts[name] = known.count
            for reference in known { users[reference, default: []].append(name) }
        }
        var ends = counts.filter { $0.value == 0 }.map(\.key)
        while let end = ends.popLast() {
            references[end] = nil
            for user in users[end] ?? [] {
                counts[user, default: 0] -= 1
                if counts[user] == 0 { ends.append(user) }
            }
        }
    }

    private static func names(_ directives: [Directive]) -> [String] { directives.map { "@\($0.name)" } }
}
