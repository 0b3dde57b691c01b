extension ValidationRule {
    /// A subscription has one root field, which is not optional and not introspection (GraphQL §5.2.4.1).
    static let singleFieldSubscriptions = ValidationRule("SingleFieldSubscriptions") { context in
        for operation in context.operations where operation.node.kind == .subscription {
            guard let root = context.facts.roots[operation.index] else { continue }
            let name = operation.node.name.map { "Subscription \"\($0)\"" } ?? "Anonymous Subscription"
            var search = RootFieldSearch()
            search.visit(root, context)
            if search.isConditional {
                context.report(
                    "\(name) must not use `@skip` or `@include` directives in the top level selection.",
                    operation.node.location
                )
            }
            let keys = search.fields.map(\.responseKey)
            let others = search.fields.filter { $0.responseKey != keys.first }
            if !others.isEmpty {
                context.report("\(name) must select only one top level field.", others.map(\.location))
            }
            for field in search.fields where field.name.hasPrefix("__") {
                context.report("\(name) must not select an introspection top level field.", field.location)
            }
        }
    }
}

/// Finds the fields at the root of an operation, each fragment looked into once.
private struct RootFieldSearch {
    var fields: [Field] = []
    var isConditional = false
    private var seen: Set<Int> = []

    mutating func visit(_ selection: Int, _ context: ValidationContext) {
        for item in context.facts.selections[selection] {
            switch item {
            case .field(let index):
                let field = context.facts.fields[index].field
                note(field.directives)
                fields.append(field)
            case .inline(let inner, let directives):
                note(directives)
                visit(inner, context)
            case .spread(let spread):
                note(context.facts.spreads[spread].spread.directives)
                guard let fragment = context.fragment(of: spread), seen.insert(fragment).inserted,
                    let root = context.facts.roots[fragment]
                else { continue }
                visit(root, context)
            }
        }
    }

    private mutating func note(_ directives: [Directive]) {
        if directives.contains(where: { $0.name == "skip" || $0.name == "include" }) { isConditional = true }
    }
}
