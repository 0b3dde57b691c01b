extension ValidationRule {
    /// Variables that are used, directly or in fragments, are declared (GraphQL §5.8.3).
    static let noUndefinedVariables = ValidationRule("NoUndefinedVariables") { context in
        for operation in context.operations {
            let declared = Set(operation.node.variables.map(\.name))
            let end = operation.node.name.map { " by operation \"\($0)\"." } ?? "."
            for definition in context.reachable(from: operation.index) {
                for index in context.facts.variablesByOwner[definition] ?? [] {
                    let use = context.facts.variables[index]
                    guard !declared.contains(use.name) else { continue }
                    let message = "Variable \"$\(use.name)\" is not defined\(end)"
                    context.report(message, use.location, operation.node.location)
                    if context.isFull { return }
                }
            }
        }
    }
}
