extension ValidationRule {
    /// No two variables of an operation share a name (GraphQL §5.8.1).
    static let uniqueVariableNames = ValidationRule("UniqueVariableNames") { context in
        for operation in context.operations {
            let names = operation.node.variables.map { variable in
                let place = variable.location
                return (name: variable.name, location: SourceLocation(line: place.line, column: place.column + 1))
            }
            context.reportDuplicates(names, together: true) { "There can be only one variable named \"$\($0)\"." }
        }
    }
}
