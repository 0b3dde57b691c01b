extension ValidationRule {
    /// Arguments that are given exist (GraphQL §5.4.1).
    static let knownArgumentNames = ValidationRule("KnownArgumentNames") { context in
        for list in context.facts.argumentLists {
            guard let target = list.target else { continue }
            for argument in list.node.children where argument.kind == .argument {
                guard context.index.argument(named: argument.text, of: target) == nil else { continue }
                let owner =
                    switch target {
                    case .field(let field): "field \"\(context.object(field).coordinate)\""
                    case .directive: "directive \"@\(list.node.name)\""
                    }
                let ending = context.suggestions.similar(to: argument.name, among: context.names(list.definitions))
                context.report("Unknown argument \"\(argument.name)\" on \(owner)." + ending, argument.start)
            }
        }
    }
}
