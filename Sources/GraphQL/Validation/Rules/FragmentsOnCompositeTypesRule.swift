extension ValidationRule {
    /// Fragments apply to types that have fields (GraphQL §5.5.1.3).
    static let fragmentsOnCompositeTypes = ValidationRule("FragmentsOnCompositeTypes") { context in
        for use in context.facts.inlineFragments {
            guard let name = use.fragment.typeCondition, let type = context.schema.type(named: name),
                !type.isComposite
            else { continue }
            context.report(
                "Fragment cannot condition on non composite type \"\(name)\".",
                use.fragment.typeConditionLocation
            )
        }
        for fragment in context.fragments {
            guard let type = context.schema.type(named: fragment.node.typeCondition), !type.isComposite else {
                continue
            }
            context.report(
                "Fragment \"\(fragment.node.name)\" cannot condition on non composite type \"\(type.name)\".",
                fragment.node.typeConditionLocation
            )
        }
    }
}
