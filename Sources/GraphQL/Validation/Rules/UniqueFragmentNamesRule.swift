extension ValidationRule {
    /// No two fragments share a name (GraphQL §5.5.1.1).
    static let uniqueFragmentNames = ValidationRule("UniqueFragmentNames") { context in
        let names = context.fragments.map { (name: $0.node.name, location: $0.node.nameLocation) }
        context.reportDuplicates(names) { "There can be only one fragment named \"\($0)\"." }
    }
}
