extension ValidationRule {
    /// Variables stand where values of their types may (GraphQL §5.8.5).
    static let variablesInAllowedPosition = ValidationRule("VariablesInAllowedPosition") { context in
        for operation in context.operations where !operation.node.variables.isEmpty {
            let variables = Dictionary(operation.node.variables.map { ($0.name, $0) }) { first, _ in first }
            for definition in context.reachable(from: operation.index) {
                for index in context.facts.variablesByOwner[definition] ?? [] {
                    let use = context.facts.variables[index]
                    if let variable = variables[use.name] { checkUse(use, variable, &context) }
                    if context.isFull { return }
                }
            }
        }
    }
}

private func checkUse(
    _ use: DocumentFacts.VariableUse,
    _ variable: VariableDefinition,
    _ context: inout ValidationContext
) {
    guard let type = use.type, context.schema.type(named: variable.type.namedType) != nil else { return }
    if let oneOf = use.oneOf, !variable.type.isNonNull {
        context.report(
            "Variable \"$\(use.name)\" is of type \"\(variable.type)\" but must be non-nullable to be used for OneOf Input Object \"\(oneOf)\".",
            variable.location,
            use.location
        )
    }
    if !isAllowed(variable, in: type, hasDefault: use.hasDefault) {
        context.report(
            "Variable \"$\(use.name)\" of type \"\(variable.type)\" used in position expecting type \"\(type)\".",
            variable.location,
            use.location
        )
    }
}

/// IsVariableUsageAllowed: a default makes up for a missing non-null mark.
private func isAllowed(_ variable: VariableDefinition, in type: TypeReference, hasDefault: Bool) -> Bool {
    guard case .nonNull(let inner) = type, !variable.type.isNonNull else { return isSubtype(variable.type, of: type) }
    var hasOwnDefault = false
    if let value = variable.defaultValue {
        if case .null = value.kind {} else { hasOwnDefault = true }
    }
    return (hasOwnDefault || hasDefault) && isSubtype(variable.type, of: inner)
}

/// AreTypesCompatible.
private func isSubtype(_ type: TypeReference, of other: TypeReference) -> Bool {
    switch (type, other) {
    case (.nonNull(let inner), .nonNull(let otherInner)): isSubtype(inner, of: otherInner)
    case (.nonNull(let inner), _): isSubtype(inner, of: other)
    case (.list(let inner), .list(let otherInner)): isSubtype(inner, of: otherInner)
    case (.named(let name), .named(let otherName)): name == otherName
    default: false
    }
}
