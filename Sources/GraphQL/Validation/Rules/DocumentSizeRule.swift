extension ValidationRule {
    /// A document has no more operations, fragments, aliases and directives than allowed; not in the specification.
    ///
    /// Each of them is cheap to write and costs work for every definition or response it stands in.
    static let documentSize = ValidationRule("DocumentSize") { context in
        let limits = context.limits
        let operations = context.operations.map(\.node.location)
        context.refuse("operations", operations, beyond: limits.maximumOperations)
        let fragments = context.fragments.map(\.node.location)
        context.refuse("fragments", fragments, beyond: limits.maximumFragments)
        let aliases = context.facts.fields.lazy.map(\.field).filter { $0.alias != nil }.map(\.location)
        context.refuse("aliases", Array(aliases), beyond: limits.maximumAliases)
        let directives = context.facts.directiveLists.flatMap(\.directives).map(\.location)
        context.refuse("directives", directives, beyond: limits.maximumDirectives)
    }
}

extension ValidationContext {
    /// Reports the first that is too much.
    fileprivate mutating func refuse(_ what: String, _ places: [SourceLocation], beyond maximum: Int) {
        guard places.count > maximum else { return }
        report(
            "The document has \(places.count) \(what); at most \(maximum) are allowed.",
            places[max(0, maximum)]
        )
    }
}
