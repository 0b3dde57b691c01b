extension ValidationRule {
    /// No two variables of an operation share a name (GraphQL §5.8.1).
    static let uniqueVariableNames = ValidationRule("UniqueVariableNames") { context in
        for operation in context.facts.operations {
            let node = context.facts.definitions[operation].node
            context.reportDuplicates(node, .variableDefinition, together: true) { name in
                "There can be only one variable named \"$\(name)\"."
            }
        }
    }
}
