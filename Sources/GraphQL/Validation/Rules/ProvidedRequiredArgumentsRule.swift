extension ValidationRule {
    /// Arguments that must be given are (GraphQL §5.4.3).
    static let providedRequiredArguments = ValidationRule("ProvidedRequiredArguments") { context in
        for list in context.facts.argumentLists {
            guard let target = list.target else { continue }
            for definition in list.definitions.lazy.map({ InputNumber(Int($0)) })
            where context.index[definition].isRequired && !context.isGiven(definition, list) {
                let owner =
                    switch target {
                    case .field: "Field \"\(list.node.name)\""
                    case .directive: "Directive \"@\(list.node.name)\""
                    }
                let type = context.written(context.index[definition].type)
                context.report(
                    "\(owner) argument \"\(context.name(definition))\" of type \"\(type)\" is required, but it was not provided.",
                    list.node.start
                )
            }
        }
    }
}

extension ValidationContext {
    fileprivate func isGiven(_ definition: InputNumber, _ list: DocumentFacts.ArgumentListUse) -> Bool {
        for argument in list.node.children where argument.kind == .argument {
            if index.argument(named: argument.text, of: list.target) == definition { return true }
        }
        return false
    }
}
