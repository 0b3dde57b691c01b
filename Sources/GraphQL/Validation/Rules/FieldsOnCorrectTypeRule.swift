extension ValidationRule {
    /// Selected fields exist (GraphQL §5.3.1).
    static let fieldsOnCorrectType = ValidationRule("FieldsOnCorrectType") { context in
        for use in context.facts.fields where use.definition == nil {
            guard let parent = use.parent else { continue }
            context.report(
                "Cannot query field \"\(use.field.name)\" on type \"\(parent.name)\".",
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
