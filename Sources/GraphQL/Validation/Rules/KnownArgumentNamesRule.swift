extension ValidationRule {
    /// Arguments that are given exist (GraphQL §5.4.1).
    static let knownArgumentNames = ValidationRule("KnownArgumentNames") { context in
        for list in context.facts.argumentLists {
            guard let target = list.target else { continue }
            for node in list.nodes where !list.definitions.contains(where: { $0.name == node.name }) {
                let place =
                    switch target {
                    case .field(let field): "field \"\(field.coordinate)\""
                    case .directive(let name): "directive \"@\(name)\""
                    }
                let ending = context.suggestions.similar(to: node.name, among: list.definitions.map(\.name))
                context.report("Unknown argument \"\(node.name)\" on \(place)." + ending, node.location)
            }
        }
    }
}
