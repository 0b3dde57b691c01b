extension ValidationRule {
    /// An operation is no deeper and has no more fields than allowed, its fragments unfolded; not in the
    /// specification.
    static let operationSize = ValidationRule("OperationSize") { context in
        guard context.isUnfoldable else { return }
        var measure = SizeMeasure()
        measure.measureFragments(context.facts)
        for operation in context.facts.operations {
            let size = measure.size(ofDefinition: operation, context.facts)
            guard let problem = problem(size, context.limits) else { continue }
            context.isUnfoldable = false
            context.report(problem, context.facts.definitions[operation].node.bodyStart)
        }
    }

    private static func problem(_ size: SizeMeasure.Size, _ limits: ValidationLimits) -> String? {
        if size.depth > limits.maximumDepth {
            return "Fields nest \(size.depth) levels deep; at most \(limits.maximumDepth) are allowed."
        }
        if size.introspectionDepth > limits.maximumIntrospectionDepth {
            return "Fields of introspection nest \(size.introspectionDepth) levels deep; "
                + "at most \(limits.maximumIntrospectionDepth) are allowed."
        }
        guard size.fields > limits.maximumFields else { return nil }
        return "The operation has more than \(limits.maximumFields) fields, fragments unfolded."
    }
}

/// Measures each fragment once, however often it is spread.
private struct SizeMeasure {
    typealias Size = (depth: Int, introspectionDepth: Int, fields: Int)
    /// By the number of the fragment.
    private var known: [Int: Size] = [:]

    /// Measures fragments after those they spread, so that no chain of them becomes a depth of calls.
    mutating func measureFragments(_ facts: DocumentFacts) {
        for fragment in facts.fragments {
            var open = [fragment]
            while let next = open.last {
                let missing = facts.definitions[next].spreads.compactMap { facts.spreads[$0].fragment }
                    .first { known[$0] == nil }
                if known[next] == nil, let missing {
                    open.append(missing)
                } else {
                    if known[next] == nil { known[next] = size(ofDefinition: next, facts) }
                    open.removeLast()
                }
            }
        }
    }

    func size(ofDefinition definition: Int, _ facts: DocumentFacts) -> Size {
        if let size = known[definition] { return size }
        return facts.definitions[definition].node.selectionSet.map { size(of: $0, facts) } ?? (0, 0, 0)
    }

    private func size(of set: NodeView, _ facts: DocumentFacts) -> Size {
        var total: Size = (0, 0, 0)
        for node in set.children {
            let size: Size =
                switch node.kind {
                case .field: self.size(ofField: node, facts)
                case .fragmentSpread: facts.fragment(node).map { self.size(ofDefinition: $0, facts) } ?? (0, 0, 0)
                default: node.selectionSet.map { self.size(of: $0, facts) } ?? (0, 0, 0)
                }
            total.depth = max(total.depth, size.depth)
            total.introspectionDepth = max(total.introspectionDepth, size.introspectionDepth)
            total.fields = min(total.fields + size.fields, Int.max / 4)
        }
        return total
    }

    private func size(ofField node: NodeView, _ facts: DocumentFacts) -> Size {
        let inner: Size = facts.field(node).selectionSet.map { size(of: $0, facts) } ?? (0, 0, 0)
        let isIntrospection = node.text == "__schema" || node.text == "__type"
        let depth = max(inner.depth, inner.introspectionDepth) + 1
        return (
            isIntrospection ? 0 : inner.depth + 1, isIntrospection ? depth : inner.introspectionDepth, inner.fields + 1
        )
    }
}
