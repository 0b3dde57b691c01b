extension ValidationRule {
    /// Fragments that are defined are spread by some operation (GraphQL §5.5.1.4).
    static let noUnusedFragments = ValidationRule("NoUnusedFragments") { context in
        guard !context.facts.fragments.isEmpty else { return }
        var used = NameList()
        var isUsed = [Bool](repeating: false, count: context.facts.definitions.count)
        for operation in context.facts.operations {
            for definition in context.reachable(from: operation) where !isUsed[definition] {
                isUsed[definition] = true
                if definition != operation { used.insert(context.facts.definitions[definition].node.text) }
            }
        }
        for fragment in context.facts.fragments {
            let node = context.facts.definitions[fragment].node
            guard !used.contains(node.text) else { continue }
            context.report("Fragment \"\(node.name)\" is never used.", node.bodyStart)
        }
    }
}
