extension ValidationRule {
    /// Fields of objects have a selection, fields of leaves have none (GraphQL §5.3.3).
    static let scalarLeafs = ValidationRule("ScalarLeafs") { context in
        for use in context.facts.fields {
            guard let definition = use.definition, let type = context.schema.type(named: definition.type.namedType)
            else {
                continue
            }
            let name = use.field.name
            if type.isLeaf, let set = use.field.selectionSet {
                context.report(
                    "Field \"\(name)\" must not have a selection since type \"\(definition.type)\" has no subfields.",
                    set.location
                )
            } else if !type.isLeaf, use.field.selectionSet == nil {
                context.report(
                    "Field \"\(name)\" of type \"\(definition.type)\" must have a selection of subfields. Did you mean \"\(name) { ... }\"?",
                    use.field.location
                )
            }
        }
    }
}
