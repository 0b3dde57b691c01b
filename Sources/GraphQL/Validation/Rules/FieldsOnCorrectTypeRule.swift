extension ValidationRule {
    /// Selected fields exist (GraphQL §5.3.1).
    static let fieldsOnCorrectType = ValidationRule("FieldsOnCorrectType") { context in
        for use in context.facts.fields where use.definition == nil {
            guard let parent = use.parent else { continue }
            let name = use.field.name
            let types = context.suggestions.types(with: name, insteadOf: parent, context.schema)
            let ending =
                types.isEmpty ? context.suggestions.similar(to: name, among: parent.fields.map(\.name)) : types
            context.report(
                "Cannot query field \"\(name)\" on type \"\(parent.name)\"." + ending,
                use.field.location
            )
        }
        for operation in context.operations where context.schema.rootType(of: operation.node.kind) == nil {
            context.report(
                "The schema has no \"\(operation.node.kind.rawValue)\" operations.",
                operation.node.location
            )
        }
    }
}
