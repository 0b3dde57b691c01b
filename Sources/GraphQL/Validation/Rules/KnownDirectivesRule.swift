extension ValidationRule {
    /// Directives exist and stand where they may (GraphQL §5.7.1, §5.7.2).
    static let knownDirectives = ValidationRule("KnownDirectives") { context in
        for use in context.facts.directives {
            guard let definition = use.definition else {
                context.report("Unknown directive \"@\(use.node.name)\".", use.node.start)
                continue
            }
            if context.index[definition].locations & use.location.bit == 0 {
                context.report(
                    "Directive \"@\(use.node.name)\" may not be used on \(use.location.rawValue).",
                    use.node.start
                )
            }
        }
    }
}
