extension ValidationRule {
    /// Types that are named exist (GraphQL §5.5.1.2, §5.8.2).
    static let knownTypeNames = ValidationRule("KnownTypeNames") { context in
        for operation in context.facts.operations {
            for variable in context.facts.definitions[operation].node.children
            where variable.kind == .variableDefinition {
                context.requireType(named: variable.typeNode.namedType)
            }
        }
        for fragment in context.facts.fragments {
            context.requireType(named: context.facts.definitions[fragment].node.typeNode)
        }
        for use in context.facts.inlineFragments where !use.node.text.isEmpty { context.requireType(named: use.node) }
    }
}

extension ValidationContext {
    /// Reports the name that a node has for its text unless it is a type's.
    fileprivate mutating func requireType(named node: NodeView) {
        guard index.type(named: node.text) == nil else { return }
        let ending = suggestions.similar(to: node.name, among: schema.types.map(\.name))
        report("Unknown type \"\(node.name)\"." + ending, node.textStart)
    }
}
