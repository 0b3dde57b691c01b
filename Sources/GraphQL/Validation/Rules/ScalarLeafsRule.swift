extension ValidationRule {
    /// Fields of objects have a selection, fields of leaves have none (GraphQL §5.3.3).
    static let scalarLeafs = ValidationRule("ScalarLeafs") { context in
        let index = context.index
        for use in context.facts.fields {
            guard let definition = use.definition, let type = index[definition].namedType,
                index[type].isLeaf == (use.selectionSet != nil)
            else { continue }
            let name = use.node.name
            let written = context.written(index[definition].type)
            if let set = use.selectionSet {
                context.report(
                    "Field \"\(name)\" must not have a selection since type \"\(written)\" has no subfields.",
                    set.start
                )
            } else {
                context.report(
                    "Field \"\(name)\" of type \"\(written)\" must have a selection of subfields. Did you mean \"\(name) { ... }\"?",
                    use.node.start
                )
            }
        }
    }
}
