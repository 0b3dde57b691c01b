extension ValidationRule {
    /// A directive that is not repeatable stands once at a location (GraphQL §5.7.3).
    static let uniqueDirectivesPerLocation = ValidationRule("UniqueDirectivesPerLocation") { context in
        for list in context.facts.directiveLists where list.count > 1 {
            let single = context.facts.directives[list].filter { use in
                use.definition.map { !context.index[$0].isRepeatable } ?? false
            }
            context.reportDuplicates(single.map { ($0.node.text, $0.node.start) }) { name in
                "The directive \"@\(name)\" can only be used once at this location."
            }
        }
    }
}
