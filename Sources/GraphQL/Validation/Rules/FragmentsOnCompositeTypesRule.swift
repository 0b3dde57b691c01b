extension ValidationRule {
    /// Fragments apply to types that have fields (GraphQL §5.5.1.3).
    static let fragmentsOnCompositeTypes = ValidationRule("FragmentsOnCompositeTypes") { context in
        for use in context.facts.inlineFragments where context.isNotComposite(use.node.text) {
            let name = use.node.name
            context.report("Fragment cannot condition on non composite type \"\(name)\".", use.node.textStart)
        }
        for fragment in context.facts.fragments {
            let node = context.facts.definitions[fragment].node
            let condition = node.typeNode
            guard context.isNotComposite(condition.text) else { continue }
            context.report(
                "Fragment \"\(node.name)\" cannot condition on non composite type \"\(condition.name)\".",
                condition.start
            )
        }
    }
}

extension ValidationContext {
    /// Whether this is a type that has no fields.
    fileprivate func isNotComposite(_ name: NameSlice) -> Bool {
        index.type(named: name).map { !index[$0].isComposite } ?? false
    }
}
