extension ValidationRule {
    /// No two fragments share a name (GraphQL §5.5.1.1).
    static let uniqueFragmentNames = ValidationRule("UniqueFragmentNames") { context in
        guard context.facts.fragments.count > 1 else { return }
        let nodes = context.facts.fragments.map { context.facts.definitions[$0].node }
        context.reportDuplicates(nodes.map { ($0.text, $0.textStart) }) { name in
            "There can be only one fragment named \"\(name)\"."
        }
    }
}
