extension ValidationRule {
    /// Variables that are declared are used, directly or in fragments (GraphQL §5.8.4).
    static let noUnusedVariables = ValidationRule("NoUnusedVariables") { context in
        for operation in context.operations where !operation.node.variables.isEmpty {
            var used: Set<String> = []
            for definition in context.reachable(from: operation.index) {
                for index in context.facts.variablesByOwner[definition] ?? [] {
                    used.insert(context.facts.variables[index].name)
                }
            }
            let end = operation.node.name.map { " in operation \"\($0)\"." } ?? "."
            for variable in operation.node.variables where !used.contains(variable.name) {
                context.report("Variable \"$\(variable.name)\" is never used\(end)", variable.location)
            }
        }
    }
}
