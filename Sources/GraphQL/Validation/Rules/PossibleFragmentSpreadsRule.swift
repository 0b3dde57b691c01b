extension ValidationRule {
    /// Fragments are spread where an object can be of their type (GraphQL §5.5.2.3).
    static let possibleFragmentSpreads = ValidationRule("PossibleFragmentSpreads") { context in
        let index = context.index
        for use in context.facts.inlineFragments {
            guard let parent = use.parent, let type = use.type, !index.overlap(parent, type) else { continue }
            context.report("Fragment " + context.never(parent, type), use.node.start)
        }
        for use in context.facts.spreads {
            guard let parent = use.parent, let fragment = use.fragment,
                let type = index.type(named: context.facts.definitions[fragment].node.typeNode.text),
                index[type].isComposite, !index.overlap(parent, type)
            else { continue }
            context.report("Fragment \"\(use.node.name)\" " + context.never(parent, type), use.node.start)
        }
    }
}

extension ValidationContext {
    fileprivate func never(_ parent: TypeNumber, _ type: TypeNumber) -> String {
        let (parent, type) = (object(parent).name, object(type).name)
        return "cannot be spread here as objects of type \"\(parent)\" can never be of type \"\(type)\"."
    }
}
