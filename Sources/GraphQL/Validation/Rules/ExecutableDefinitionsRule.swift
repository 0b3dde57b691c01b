extension ValidationRule {
    /// A request holds only operations and fragments (GraphQL §5.1.1).
    static let executableDefinitions = ValidationRule("ExecutableDefinitions") { context in
        for node in context.root.children {
            switch node.kind {
            case .operation, .fragmentDefinition: break
            case .schema: context.report("The schema definition is not executable.", node.bodyStart)
            default: context.report("The \"\(node.name)\" definition is not executable.", node.bodyStart)
            }
        }
    }
}
