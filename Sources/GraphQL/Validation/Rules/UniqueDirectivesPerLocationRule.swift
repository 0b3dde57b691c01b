extension ValidationRule {
    /// A directive that is not repeatable stands once in a place (GraphQL §5.7.3).
    static let uniqueDirectivesPerLocation = ValidationRule("UniqueDirectivesPerLocation") { context in
        for list in context.facts.directiveLists where list.directives.count > 1 {
            let names = list.directives.compactMap { directive in
                context.schema.directive(named: directive.name).flatMap { definition in
                    definition.isRepeatable ? nil : (name: directive.name, location: directive.location)
                }
            }
            context.reportDuplicates(names) { "The directive \"@\($0)\" can only be used once at this location." }
        }
    }
}
