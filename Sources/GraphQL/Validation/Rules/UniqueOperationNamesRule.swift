extension ValidationRule {
    /// No two operations share a name (GraphQL §5.2.2.1).
    static let uniqueOperationNames = ValidationRule("UniqueOperationNames") { context in
        let names = context.operations.compactMap { operation in
            operation.node.name.map { (name: $0, location: operation.node.nameLocation) }
        }
        context.reportDuplicates(names) { "There can be only one operation named \"\($0)\"." }
    }
}
