extension ValidationRule {
    /// Variables that are declared are used, directly or in fragments (GraphQL §5.8.4).
    static let noUnusedVariables = ValidationRule("NoUnusedVariables") { context in
        for operation in context.facts.operations {
            let node = context.facts.definitions[operation].node
            guard node.first(.variableDefinition) != nil else { continue }
            var used = NameList()
            for definition in context.reachable(from: operation) {
                for use in context.facts.variables[context.facts.definitions[definition].variables] {
                    used.insert(use.node.text)
                }
            }
            for variable in node.children
            where variable.kind == .variableDefinition && !used.contains(variable.text) {
                context.report(
                    "Variable \"$\(variable.name)\" is never used" + context.ending("in", node),
                    variable.bodyStart
                )
            }
        }
    }
}
