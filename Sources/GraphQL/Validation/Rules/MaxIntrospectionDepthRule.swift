extension ValidationRule {
    /// Introspection nests no more lists than allowed, the list of all types counted; not in the specification.
    ///
    /// Without it `types { fields { type { fields { … } } } }` multiplies the answer with every level.
    static let maxIntrospectionDepth = ValidationRule("MaxIntrospectionDepth") { context in
        guard context.isUnfoldable else { return }
        for use in context.facts.fields where use.field.name == "__schema" || use.field.name == "__type" {
            guard let selection = use.selection,
                listDepth(selection, context) >= context.limits.maximumIntrospectionLists
            else { continue }
            context.report("Maximum introspection depth exceeded", use.field.location)
        }
    }
}

private func listDepth(_ selection: Int, _ context: ValidationContext) -> Int {
    var depth = 0
    for item in context.facts.selections[selection] {
        switch item {
        case .field(let index):
            let use = context.facts.fields[index]
            let isList = ["fields", "interfaces", "possibleTypes", "inputFields"].contains(use.field.name)
            let inner = use.selection.map { listDepth($0, context) } ?? 0
            depth = max(depth, inner + (isList ? 1 : 0))
        case .inline(let inner, _): depth = max(depth, listDepth(inner, context))
        case .spread(let spread):
            guard let fragment = context.fragment(of: spread), let root = context.facts.roots[fragment] else {
                continue
            }
            depth = max(depth, listDepth(root, context))
        }
    }
    return depth
}
