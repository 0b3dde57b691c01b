extension ValidationRule {
    /// Fragments that are defined are spread by some operation (GraphQL §5.5.1.4).
    static let noUnusedFragments = ValidationRule("NoUnusedFragments") { context in
        let used = Set(context.operations.flatMap { context.reachable(from: $0.index) })
        let names = Set(context.fragments.filter { used.contains($0.index) }.map(\.node.name))
        for fragment in context.fragments where !names.contains(fragment.node.name) {
            context.report("Fragment \"\(fragment.node.name)\" is never used.", fragment.node.location)
        }
    }
}
