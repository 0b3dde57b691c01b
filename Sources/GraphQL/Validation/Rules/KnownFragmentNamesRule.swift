extension ValidationRule {
    /// Fragments that are spread exist (GraphQL §5.5.2.1).
    static let knownFragmentNames = ValidationRule("KnownFragmentNames") { context in
        for use in context.facts.spreads where use.fragment == nil {
            context.report("Unknown fragment \"\(use.node.name)\".", use.node.textStart)
        }
    }
}
