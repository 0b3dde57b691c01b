extension ValidationRule {
    /// Selected fields exist (GraphQL §5.3.1).
    static let fieldsOnCorrectType = ValidationRule("FieldsOnCorrectType") { context in
        for use in context.facts.fields where use.definition == nil {
            guard let parent = use.parent else { continue }
            let (name, type) = (use.node.name, context.object(parent))
            let types = context.suggestions.types(with: name, insteadOf: type, context.schema)
            let ending = types.isEmpty ? context.suggestions.similar(to: name, among: type.fields.map(\.name)) : types
            context.report("Cannot query field \"\(name)\" on type \"\(type.name)\"." + ending, use.node.start)
        }
        for operation in context.facts.operations {
            let node = context.facts.definitions[operation].node
            let kind = node.flags.operationKind
            guard context.index.rootType(of: kind) == nil else { continue }
            context.report("The schema has no \"\(kind.rawValue)\" operations.", node.bodyStart)
        }
    }
}
