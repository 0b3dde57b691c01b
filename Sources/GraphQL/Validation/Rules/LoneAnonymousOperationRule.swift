extension ValidationRule {
    /// An operation without a name is the only one (GraphQL §5.2.3.1).
    static let loneAnonymousOperation = ValidationRule("LoneAnonymousOperation") { context in
        guard context.operations.count > 1 else { return }
        for operation in context.operations where operation.node.name == nil {
            context.report("This anonymous operation must be the only defined operation.", operation.node.location)
        }
    }
}
