extension ValidationRule {
    /// An argument is given once (GraphQL §5.4.2).
    static let uniqueArgumentNames = ValidationRule("UniqueArgumentNames") { context in
        for list in context.facts.argumentLists {
            context.reportDuplicates(list.node, .argument, together: true) { name in
                "There can be only one argument named \"\(name)\"."
            }
        }
    }
}
