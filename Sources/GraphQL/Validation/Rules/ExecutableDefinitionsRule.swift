extension ValidationRule {
    /// A request holds only operations and fragments (GraphQL §5.1.1).
    static let executableDefinitions = ValidationRule("ExecutableDefinitions") { context in
        for definition in context.document.definitions {
            switch definition {
            case .operation, .fragment: break
            case .schema(let node), .schemaExtension(let node):
                context.report("The schema definition is not executable.", node.location)
            case .directive(let node):
                context.report("The \"\(node.name)\" definition is not executable.", node.location)
            default:
                guard let type = TypeDraft(definition) else { continue }
                context.report("The \"\(type.name)\" definition is not executable.", type.location)
            }
        }
    }
}
