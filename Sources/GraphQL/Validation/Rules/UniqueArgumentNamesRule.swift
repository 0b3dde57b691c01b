extension ValidationRule {
    /// An argument is given once (GraphQL §5.4.2).
    static let uniqueArgumentNames = ValidationRule("UniqueArgumentNames") { context in
        for list in context.facts.argumentLists {
            let names = list.nodes.map { (name: $0.name, location: $0.location) }
            context.reportDuplicates(names, together: true) { "There can be only one argument named \"\($0)\"." }
        }
    }
}
