extension ValidationRule {
    /// Directives exist and stand where they may (GraphQL §5.7.1, §5.7.2).
    static let knownDirectives = ValidationRule("KnownDirectives") { context in
        for list in context.facts.directiveLists {
            for directive in list.directives {
                guard let definition = context.schema.directive(named: directive.name) else {
                    context.report("Unknown directive \"@\(directive.name)\".", directive.location)
                    continue
                }
                if !definition.locations.contains(list.location) {
                    context.report(
                        "Directive \"@\(directive.name)\" may not be used on \(list.location.rawValue).",
                        directive.location
                    )
                }
            }
        }
    }
}
