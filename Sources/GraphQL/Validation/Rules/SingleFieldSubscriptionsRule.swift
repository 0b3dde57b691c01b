extension ValidationRule {
    /// A subscription has one root field, which is not optional and not
    /// introspection (GraphQL §5.2.4.1).
    static let singleFieldSubscriptions = ValidationRule("SingleFieldSubscriptions") { context in
        for operation in context.facts.operations {
            let node = context.facts.definitions[operation].node
            guard node.flags.operationKind == .subscription, let set = node.selectionSet else { continue }
            let name = node.text.isEmpty ? "Anonymous Subscription" : "Subscription \"\(node.name)\""
            var search = RootFieldSearch()
            search.visit(set, context.facts)
            if search.isConditional {
                context.report(
                    "\(name) must not use `@skip` or `@include` directives in the top level selection.",
                    node.bodyStart
                )
            }
            let others = search.fields.filter { $0.responseKey != search.fields[0].responseKey }
            if !others.isEmpty {
                context.report("\(name) must select only one top level field.", others.map(\.start))
            }
            for field in search.fields where field.text.hasPrefix("__") {
                context.report("\(name) must not select an introspection top level field.", field.start)
            }
        }
    }
}

/// Finds the fields at the root of an operation, each fragment looked into once.
struct RootFieldSearch {
    private(set) var fields: [NodeView] = []
    /// Whether any of it depends on `@skip` or `@include`.
    private(set) var isConditional = false
    private var seen: Set<Int> = []

    mutating func visit(_ set: NodeView, _ facts: DocumentFacts) {
        // A list instead of calls, because fragments may follow each other without end.
        var open = [set.children]
        while var rest = open.popLast() {
            guard let node = rest.next() else { continue }
            open.append(rest)
            note(node)
            if node.kind == .field {
                fields.append(node)
            } else if let inner = innerSet(of: node, facts) {
                open.append(inner.children)
            }
        }
    }

    private mutating func innerSet(of node: NodeView, _ facts: DocumentFacts) -> NodeView? {
        guard node.kind == .fragmentSpread else { return node.selectionSet }
        guard let fragment = facts.fragment(node), seen.insert(fragment).inserted else { return nil }
        return facts.definitions[fragment].node.selectionSet
    }

    private mutating func note(_ node: NodeView) {
        for directive in node.children
        where directive.kind == .directive && (directive.text == "skip" || directive.text == "include") {
            isConditional = true
        }
    }
}
