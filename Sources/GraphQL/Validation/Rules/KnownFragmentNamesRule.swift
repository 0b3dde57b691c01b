extension ValidationRule {
    /// Fragments that are spread exist (GraphQL §5.5.2.1).
    static let knownFragmentNames = ValidationRule("KnownFragmentNames") { context in
        for use in context.facts.spreads where context.fragmentIndices[use.spread.name] == nil {
            context.report("Unknown fragment \"\(use.spread.name)\".", use.spread.nameLocation)
        }
    }
}
