extension ValidationRule {
    /// Fields with one response name are one field (GraphQL §5.3.2).
    ///
    /// Fields are gathered into sets that stand at one place of the response, and each set is looked at once: first
    /// whether all of one name have one shape, then whether those of one parent are one field. So the work grows with
    /// the document, not with its square.
    static let overlappingFieldsCanBeMerged = ValidationRule("OverlappingFieldsCanBeMerged") { context in
        guard context.isUnfoldable else { return }
        var check = MergeCheck(budget: 20 * context.limits.maximumFields)
        for operation in context.operations {
            guard let root = context.facts.roots[operation.index] else { continue }
            let fields = check.unfold([(selection: root, parent: nil)], context)
            check.checkShapes(fields, &context)
            check.checkIdentity(fields, &context)
        }
        for fragment in context.fragments {
            guard let root = context.facts.roots[fragment.index] else { continue }
            let fields = check.unfold([(selection: root, parent: nil)], context)
            check.checkShapes(fields, &context)
            check.checkIdentity(fields, &context)
        }
        if check.budget <= 0, let operation = context.operations.first {
            context.report("The operation's overlapping fields are too many to check.", operation.node.location)
        }
    }
}
