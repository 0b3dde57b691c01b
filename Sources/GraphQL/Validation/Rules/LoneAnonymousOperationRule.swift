extension ValidationRule {
    /// An operation without a name is the only one (GraphQL §5.2.3.1).
    static let loneAnonymousOperation = ValidationRule("LoneAnonymousOperation") { context in
        guard context.facts.operations.count > 1 else { return }
        for operation in context.facts.operations {
            let node = context.facts.definitions[operation].node
            guard node.text.isEmpty else { continue }
            context.report("This anonymous operation must be the only defined operation.", node.bodyStart)
        }
    }
}
