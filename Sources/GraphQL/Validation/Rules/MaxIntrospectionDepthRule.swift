extension ValidationRule {
    /// Introspection nests only as many lists as allowed, the list of all types included.
    ///
    /// The specification has no such rule. Without it, each level of
    /// `types { fields { type { fields { … } } } }` would multiply the answer.
    static let maxIntrospectionDepth = ValidationRule("MaxIntrospectionDepth") { context in
        guard context.isUnfoldable else { return }
        var measure = ListDepthMeasure()
        for use in context.facts.fields where use.node.text == "__schema" || use.node.text == "__type" {
            guard let set = use.selectionSet,
                measure.depth(of: set, context) >= context.limits.maximumIntrospectionLists
            else { continue }
            context.report("Maximum introspection depth exceeded", use.node.start)
        }
    }
}

/// Measures each fragment once, however often it is spread.
private struct ListDepthMeasure {
    private var known: [Int: Int] = [:]

    mutating func depth(of set: NodeView, _ context: ValidationContext) -> Int {
        var depth = 0
        for node in set.children {
            switch node.kind {
            case .field:
                let inner = node.selectionSet.map { self.depth(of: $0, context) } ?? 0
                depth = max(depth, inner + (Self.isList(node.text) ? 1 : 0))
            case .fragmentSpread:
                guard let fragment = context.facts.fragment(node) else { continue }
                depth = max(depth, self.depth(ofDefinition: fragment, context))
            default: depth = max(depth, node.selectionSet.map { self.depth(of: $0, context) } ?? 0)
            }
        }
        return depth
    }

    private mutating func depth(ofDefinition fragment: Int, _ context: ValidationContext) -> Int {
        if let depth = known[fragment] { return depth }
        let depth = context.facts.definitions[fragment].node.selectionSet.map { self.depth(of: $0, context) } ?? 0
        known[fragment] = depth
        return depth
    }

    private static func isList(_ name: NameSlice) -> Bool {
        name == "fields" || name == "interfaces" || name == "possibleTypes" || name == "inputFields"
    }
}
