extension ValidationRule {
    /// Variables have types that can be sent (GraphQL §5.8.2).
    static let variablesAreInputTypes = ValidationRule("VariablesAreInputTypes") { context in
        for operation in context.facts.operations {
            for variable in context.facts.definitions[operation].node.children
            where variable.kind == .variableDefinition {
                let written = variable.typeNode
                guard let type = context.index.type(named: written.namedType.text), !context.index[type].isInput else {
                    continue
                }
                context.report(
                    "Variable \"$\(variable.name)\" cannot be non-input type \"\(written.typeReference)\".",
                    written.start
                )
            }
        }
    }
}
