extension ValidationRule {
    /// An operation asks for no more fields of the root than allowed, fragments unfolded;
    /// not in the specification.
    static let rootFields = ValidationRule("RootFields") { context in
        guard context.isUnfoldable else { return }
        for operation in context.facts.operations {
            let node = context.facts.definitions[operation].node
            guard let set = node.selectionSet else { continue }
            var search = RootFieldSearch()
            search.visit(set, context.facts)
            var keys = NameList()
            for field in search.fields { keys.insert(field.responseKey) }
            guard keys.names.count > context.limits.maximumRootFields else { continue }
            context.report(
                "The operation asks for \(keys.names.count) fields of the root; at most \(context.limits.maximumRootFields) are allowed.",
                node.bodyStart
            )
        }
    }
}
