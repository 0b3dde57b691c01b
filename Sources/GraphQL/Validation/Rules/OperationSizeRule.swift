extension ValidationRule {
    /// An operation is no deeper and has no more fields than allowed, its fragments unfolded; not in the
    /// specification.
    static let operationSize = ValidationRule("OperationSize") { context in
        guard context.isUnfoldable else { return }
        var measure = SizeMeasure()
        for operation in context.operations {
            let size = measure.size(ofDefinition: operation.index, context)
            guard let problem = problem(size, context.limits) else { continue }
            context.isUnfoldable = false
            context.report(problem, operation.node.location)
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
    private var known: [Int: Size] = [:]

    mutating func size(ofDefinition definition: Int, _ context: ValidationContext) -> Size {
        if let size = known[definition] { return size }
        guard let root = context.facts.roots[definition] else { return (0, 0, 0) }
        let size = size(ofSelection: root, context)
        known[definition] = size
        return size
    }

    private mutating func size(ofSelection selection: Int, _ context: ValidationContext) -> Size {
        var total: Size = (0, 0, 0)
        for item in context.facts.selections[selection] {
            let size: Size
            switch item {
            case .field(let index): size = self.size(ofField: index, context)
            case .inline(let inner, _): size = self.size(ofSelection: inner, context)
            case .spread(let spread):
                size = context.fragment(of: spread).map { self.size(ofDefinition: $0, context) } ?? (0, 0, 0)
            }
            total.depth = max(total.depth, size.depth)
            total.introspectionDepth = max(total.introspectionDepth, size.introspectionDepth)
            total.fields = min(total.fields + size.fields, Int.max / 4)
        }
        return total
    }

    private mutating func size(ofField index: Int, _ context: ValidationContext) -> Size {
        let use = context.facts.fields[index]
        let inner: Size = use.selection.map { size(ofSelection: $0, context) } ?? (0, 0, 0)
        let isIntrospection = use.field.name == "__schema" || use.field.name == "__type"
        let depth = max(inner.depth, inner.introspectionDepth) + 1
        return (
            isIntrospection ? 0 : inner.depth + 1, isIntrospection ? depth : inner.introspectionDepth, inner.fields + 1
        )
    }
}
