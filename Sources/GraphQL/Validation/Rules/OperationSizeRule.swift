extension ValidationRule {
    /// An operation is no deeper and has no more fields than allowed, its fragments unfolded;
    /// not in the specification.
    static let operationSize = ValidationRule("OperationSize") { context in
        guard context.isUnfoldable else { return }
        let sizes = SizeMeasure.sizes(context.facts)
        if let definition = sizes.firstIndex(where: { $0.nesting > SizeMeasure.maximumNesting }) {
            context.isUnfoldable = false
            context.report(
                "Selections nest more than \(SizeMeasure.maximumNesting) levels deep, fragments unfolded.",
                context.facts.definitions[definition].node.bodyStart
            )
        }
        for operation in context.facts.operations {
            guard let problem = problem(sizes[operation], context.limits) else { continue }
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

/// Measures each definition once, however often it is spread.
private struct SizeMeasure {
    struct Size {
        /// How deep fields nest outside of the introspection system, and in it.
        var depth = 0
        var introspectionDepth = 0
        var fields = 0
        /// How deep selection sets nest, those of fragments among them.
        var nesting = 0
    }

    /// Far more than fields may nest, and few enough for functions that call themselves for each.
    static let maximumNesting = 1000
    private let facts: DocumentFacts
    /// By the number of the definition.
    private var known: [Size?]

    /// The sizes of a document without circles, by the number of the definition.
    static func sizes(_ facts: DocumentFacts) -> [Size] {
        var measure = SizeMeasure(facts: facts, known: [Size?](repeating: nil, count: facts.definitions.count))
        for definition in facts.definitions.indices { measure.measure(definition) }
        return measure.known.map { $0 ?? Size() }
    }

    /// Measures what a definition spreads before itself, so that no chain of fragments
    /// becomes a depth of calls.
    private mutating func measure(_ definition: Int) {
        var open = [(definition: definition, spreads: facts.definitions[definition].spreads)]
        while var last = open.popLast() {
            guard known[last.definition] == nil else { continue }
            guard let spread = last.spreads.popFirst() else {
                known[last.definition] = facts.definitions[last.definition].node.selectionSet.map { size(of: $0) }
                continue
            }
            open.append(last)
            if let fragment = facts.spreads[spread].fragment {
                open.append((fragment, facts.definitions[fragment].spreads))
            }
        }
    }

    private func size(of set: NodeView) -> Size {
        var total = Size()
        for node in set.children {
            let size: Size =
                switch node.kind {
                case .field: self.size(ofField: node)
                case .fragmentSpread: facts.fragment(node).flatMap { known[$0] } ?? Size()
                default: node.selectionSet.map { self.size(of: $0) } ?? Size()
                }
            total.depth = max(total.depth, size.depth)
            total.introspectionDepth = max(total.introspectionDepth, size.introspectionDepth)
            total.nesting = max(total.nesting, size.nesting + 1)
            total.fields = min(total.fields + size.fields, Int.max / 4)
        }
        return total
    }

    private func size(ofField node: NodeView) -> Size {
        let inner = facts.field(node).selectionSet.map { size(of: $0) } ?? Size()
        let isIntrospection = node.text == "__schema" || node.text == "__type"
        let depth = max(inner.depth, inner.introspectionDepth) + 1
        return Size(
            depth: isIntrospection ? 0 : inner.depth + 1,
            introspectionDepth: isIntrospection ? depth : inner.introspectionDepth,
            fields: inner.fields + 1,
            nesting: inner.nesting
        )
    }
}
