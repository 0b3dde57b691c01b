extension ValidationRule {
    /// Arguments that must be given are (GraphQL §5.4.3).
    static let providedRequiredArguments = ValidationRule("ProvidedRequiredArguments") { context in
        for list in context.facts.argumentLists {
            guard let target = list.target else { continue }
            for definition in list.definitions
            where definition.isRequired && !list.nodes.contains(where: { $0.name == definition.name }) {
                let end =
                    "argument \"\(definition.name)\" of type \"\(definition.type)\" is required, but it was not provided."
                switch target {
                case .field(let field): context.report("Field \"\(field.name)\" \(end)", list.location)
                case .directive(let name): context.report("Directive \"@\(name)\" \(end)", list.location)
                }
            }
        }
    }
}
