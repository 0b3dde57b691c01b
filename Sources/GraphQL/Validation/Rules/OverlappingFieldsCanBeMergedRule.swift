extension ValidationRule {
    /// Fields with one response name are one field (GraphQL §5.3.2).
    ///
    /// Fields are gathered into sets that stand at one path of the response, and each set is looked
    /// at once. All of one name must have one shape, and those of one parent must be one field. So
    /// the work grows with the document, not with its square.
    static let overlappingFieldsCanBeMerged = ValidationRule("OverlappingFieldsCanBeMerged") { context in
        _ = checkOverlappingFields(&context)
    }
}

/// How many fields and fragments the rule looks at in a document; for the test that this grows
/// with the document alone.
package func countStepsOfMerging(
    _ document: Document,
    against schema: Schema,
    limits: ValidationLimits = .specification
) -> Int {
    document.tree.withRoot { root in
        var context = ValidationContext(root, schema, limits, Suggestions(isOn: false))
        return checkOverlappingFields(&context)
    }
}

/// The number of steps it took.
private func checkOverlappingFields(_ context: inout ValidationContext) -> Int {
    guard context.isUnfoldable, hasOverlaps(context.facts) else { return 0 }
    let facts = context.facts
    let maximumSteps = 20 * min(context.limits.maximumFields, 1 << 40)
    var check = MergeCheck(facts, context.index, maximumSteps: maximumSteps)
    for operation in facts.operations { check.check(operation, &context) }
    // What is spread was looked at where it is spread. Only to tell every conflict
    // it is looked at by itself.
    for fragment in facts.fragments where check.hasConflicts || !check.wasVisited(fragment) {
        check.check(fragment, &context)
    }
    if check.isExhausted, let operation = facts.operations.first {
        let start = facts.definitions[operation].node.bodyStart
        context.report("The operation's overlapping fields are too many to check.", start)
    }
    return check.steps
}

/// Whether fields of one response name may meet at all: without fragments they do so
/// in one selection set only.
private func hasOverlaps(_ facts: DocumentFacts) -> Bool {
    if !facts.spreads.isEmpty || !facts.inlineFragments.isEmpty { return true }
    var names = NameList()
    func hasTwice(_ set: NodeView) -> Bool {
        names.removeAll()
        for node in set.children where !names.insert(node.responseKey).isNew { return true }
        return false
    }
    for definition in facts.definitions {
        if let set = definition.node.selectionSet, hasTwice(set) { return true }
    }
    for field in facts.fields {
        if let set = field.selectionSet, hasTwice(set) { return true }
    }
    return false
}
