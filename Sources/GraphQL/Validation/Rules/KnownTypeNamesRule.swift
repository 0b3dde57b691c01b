extension ValidationRule {
    /// Types that are named exist (GraphQL §5.5.1.2, §5.8.2).
    static let knownTypeNames = ValidationRule("KnownTypeNames") { context in
        var names: [(name: String, location: SourceLocation)] = []
        for operation in context.operations {
            names += operation.node.variables.map { ($0.type.namedType, $0.typeLocation) }
        }
        names += context.fragments.map { ($0.node.typeCondition, $0.node.typeConditionLocation) }
        names += context.facts.inlineFragments.compactMap { use in
            use.fragment.typeCondition.map { ($0, use.fragment.typeConditionLocation) }
        }
        for (name, location) in names where context.schema.type(named: name) == nil {
            let ending = context.suggestions.similar(to: name, among: context.schema.types.map(\.name))
            context.report("Unknown type \"\(name)\"." + ending, location)
        }
    }
}
