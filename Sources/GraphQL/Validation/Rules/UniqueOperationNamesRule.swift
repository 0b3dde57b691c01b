extension ValidationRule {
    /// No two operations share a name (GraphQL §5.2.2.1).
    static let uniqueOperationNames = ValidationRule("UniqueOperationNames") { context in
        guard context.facts.operations.count > 1 else { return }
        let nodes = context.facts.operations.map { context.facts.definitions[$0].node }
        let named = nodes.filter { !$0.text.isEmpty }
        context.reportDuplicates(named.map { ($0.text, $0.textStart) }) { name in
            "There can be only one operation named \"\(name)\"."
        }
    }
}
