extension ValidationRule {
    /// A document has no more operations, fragments, aliases and directives than allowed; not in the specification.
    ///
    /// Each of them is cheap to write and costs work for every definition or response it stands in.
    static let documentSize = ValidationRule("DocumentSize") { context in
        let (facts, limits) = (context.facts, context.limits)
        context.refuse("operations", facts.operations.count, beyond: limits.maximumOperations) { number in
            facts.definitions[facts.operations[number]].node.bodyStart
        }
        context.refuse("fragments", facts.fragments.count, beyond: limits.maximumFragments) { number in
            facts.definitions[facts.fragments[number]].node.bodyStart
        }
        let aliases = facts.fields.lazy.map(\.node).filter { $0.flags.contains(.isAliased) }
        context.refuse("aliases", aliases.reduce(0) { count, _ in count + 1 }, beyond: limits.maximumAliases) {
            number in
            aliases.dropFirst(number).first?.start ?? 0
        }
        context.refuse("directives", facts.directives.count, beyond: limits.maximumDirectives) { number in
            facts.directives[number].node.start
        }
    }
}

extension ValidationContext {
    /// Reports the first that is too much.
    fileprivate mutating func refuse(_ what: String, _ count: Int, beyond maximum: Int, _ place: (Int) -> Int) {
        guard count > maximum else { return }
        report("The document has \(count) \(what); at most \(maximum) are allowed.", place(max(0, maximum)))
    }
}
