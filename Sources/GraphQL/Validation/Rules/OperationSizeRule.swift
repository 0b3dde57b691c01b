extension ValidationRule {
    /// An operation is no deeper and has no more fields than allowed, its fragments unfolded; not in the
    /// specification.
    static let operationSize = ValidationRule("OperationSize") { context in
        guard context.isUnfoldable else { return }
        var measure = SizeMeasure()
        for operation in context.operations {
            let size = measure.size(ofDefinition: operation.index, context)
            let isTooDeep = size.depth > context.limits.maximumDepth
            let isTooLarge = size.fields > context.limits.maximumFields
            guard isTooDeep || isTooLarge else { continue }
            context.isUnfoldable = false
            context.report(
                isTooDeep
                    ? "Fields nest \(size.depth) levels deep; at most \(context.limits.maximumDepth) are allowed."
                    : "The operation has more than \(context.limits.maximumFields) fields, fragments unfolded.",
                operation.node.location
            )
        }
    }
}

/// Measures each fragment once, however often it is spread.
private struct SizeMeasure {
    typealias Size = (depth: Int, fields: Int)
    private var known: [Int: Size] = [:]

    mutating func size(ofDefinition definition: Int, _ context: ValidationContext) -> Size {
        if let size = known[definition] { return size }
        guard let root = context.facts.roots[definition] else { return (0, 0) }
        let size = size(ofSelection: root, context)
        known[definition] = size
        return size
    }

    private mutating func size(ofSelection selection: Int, _ context: ValidationContext) -> Size {
        var total: Size = (0, 0)
        for item in context.facts.selections[selection] {
            var size: Size
            switch item {
            case .field(let index):
                size = context.facts.fields[index].selection.map { self.size(ofSelection: $0, context) } ?? (0, 0)
                size = (size.depth + 1, size.fields + 1)
            case .inline(let inner, _): size = self.size(ofSelection: inner, context)
            case .spread(let spread):
                size = context.fragment(of: spread).map { self.size(ofDefinition: $0, context) } ?? (0, 0)
            }
            total = (max(total.depth, size.depth), min(total.fields + size.fields, Int.max / 4))
        }
        return total
    }
}
