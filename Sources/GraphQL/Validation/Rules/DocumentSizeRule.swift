extension ValidationRule {
    /// A document has no more operations, fragments, aliases and directives than allowed;
    /// not in the specification.
    ///
    /// Each of them is cheap to write and costs work for every definition or response it stands in.
    static let documentSize = ValidationRule("DocumentSize") { context in
        let limits = context.limits
        context.refuse("operations", definitions: context.facts.operations, beyond: limits.maximumOperations)
        context.refuse("fragments", definitions: context.facts.fragments, beyond: limits.maximumFragments)
        var aliases = 0
        for use in context.facts.fields where use.node.flags.contains(.isAliased) { aliases += 1 }
        if aliases > limits.maximumAliases {
            let aliased = context.facts.fields.map(\.node).filter { $0.flags.contains(.isAliased) }
            context.refuse("aliases", aliased.map(\.start), beyond: limits.maximumAliases)
        }
        if context.facts.directives.count > limits.maximumDirectives {
            let directives = context.facts.directives.map(\.node.start)
            context.refuse("directives", directives, beyond: limits.maximumDirectives)
        }
    }
}

extension ValidationContext {
    fileprivate mutating func refuse(_ what: String, definitions: [Int], beyond maximum: Int) {
        guard definitions.count > maximum else { return }
        refuse(what, definitions.map { facts.definitions[$0].node.bodyStart }, beyond: maximum)
    }

    /// Reports the first that is too much.
    fileprivate mutating func refuse(_ what: String, _ offsets: [Int], beyond maximum: Int) {
        guard offsets.count > maximum else { return }
        report("The document has \(offsets.count) \(what); at most \(maximum) are allowed.", offsets[max(0, maximum)])
    }
}
