extension ValidationRule {
    /// Arguments that are given exist (GraphQL §5.4.1).
    static let knownArgumentNames = ValidationRule("KnownArgumentNames") { context in
        for list in context.facts.argumentLists {
            guard let target = list.target else { continue }
            for node in list.nodes where !list.definitions.contains(where: { $0.name == node.name }) {
                switch target {
                case .field(let field):
                    context.report("Unknown argument \"\(node.name)\" on field \"\(field.coordinate)\".", node.location)
                case .directive(let name):
                    context.report("Unknown argument \"\(node.name)\" on directive \"@\(name)\".", node.location)
                }
            }
        }
    }
}
