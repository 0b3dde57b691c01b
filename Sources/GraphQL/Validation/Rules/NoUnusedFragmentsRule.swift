extension ValidationRule {
    /// Fragments that are defined are spread by some operation (GraphQL §5.5.1.4).
    static let noUnusedFragments = ValidationRule("NoUnusedFragments") { context in
        let facts = context.facts
        guard !facts.fragments.isEmpty else { return }
        var used = NameList()
        var isUsed = [Bool](repeating: false, count: facts.definitions.count)
        for operation in facts.operations {
            for definition in context.reachable(from: operation) where !isUsed[definition] {
                isUsed[definition] = true
                if definition != operation { used.insert(facts.definitions[definition].node.text) }
            }
        }
        for fragment in facts.fragments {
            let node = facts.definitions[fragment].node
            guard !used.contains(node.text) else { continue }
            context.report("Fragment \"\(node.name)\" is never used.", node.bodyStart)
        }
    }
}
