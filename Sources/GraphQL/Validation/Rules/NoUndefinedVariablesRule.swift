extension ValidationRule {
    /// Variables that are used, directly or in fragments, are declared (GraphQL §5.8.3).
    static let noUndefinedVariables = ValidationRule("NoUndefinedVariables") { context in
        guard !context.facts.variables.isEmpty else { return }
        for operation in context.facts.operations {
            let node = context.facts.definitions[operation].node
            var declared = NameList()
            for variable in node.children where variable.kind == .variableDefinition { declared.insert(variable.text) }
            for definition in context.reachable(from: operation) {
                for use in context.facts.variables[context.facts.definitions[definition].variables]
                where !declared.contains(use.node.text) {
                    let message = "Variable \"$\(use.node.name)\" is not defined" + context.ending("by", node)
                    context.report(message, use.node.start, node.bodyStart)
                    if context.isFull { return }
                }
            }
        }
    }
}
