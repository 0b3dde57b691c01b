extension ValidationRule {
    /// Fragments are spread where an object can be of their type (GraphQL §5.5.2.3).
    static let possibleFragmentSpreads = ValidationRule("PossibleFragmentSpreads") { context in
        for use in context.facts.inlineFragments {
            guard let parent = use.parent, let type = use.type, !overlap(parent, type, context.schema) else { continue }
            context.report(
                "Fragment cannot be spread here as objects of type \"\(parent.name)\" can never be of type \"\(type.name)\".",
                use.fragment.location
            )
        }
        for (index, use) in context.facts.spreads.enumerated() {
            guard let parent = use.parent, let fragment = context.fragment(of: index),
                case .fragment(let node) = context.document.definitions[fragment],
                let type = context.schema.type(named: node.typeCondition), type.isComposite,
                !overlap(parent, type, context.schema)
            else { continue }
            context.report(
                "Fragment \"\(node.name)\" cannot be spread here as objects of type \"\(parent.name)\" can never be of type \"\(type.name)\".",
                use.spread.location
            )
        }
    }
}

private func overlap(_ left: Schema.NamedType, _ right: Schema.NamedType, _ schema: Schema) -> Bool {
    left === right || schema.possibleTypes(of: left).contains { schema.isPossible($0.name, for: right) }
}
