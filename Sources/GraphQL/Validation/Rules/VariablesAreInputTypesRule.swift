extension ValidationRule {
    /// Variables have types that can be sent (GraphQL §5.8.2).
    static let variablesAreInputTypes = ValidationRule("VariablesAreInputTypes") { context in
        for variable in context.operations.flatMap(\.node.variables) {
            guard let type = context.schema.type(named: variable.type.namedType), !type.isInput else { continue }
            context.report(
                "Variable \"$\(variable.name)\" cannot be non-input type \"\(variable.type)\".",
                variable.typeStart
            )
        }
    }
}
