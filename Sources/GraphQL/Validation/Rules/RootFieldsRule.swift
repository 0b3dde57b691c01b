extension ValidationRule {
    /// An operation asks for no more fields of the root than allowed, fragments unfolded; not in the specification.
    static let rootFields = ValidationRule("RootFields") { context in
        guard context.isUnfoldable else { return }
        for operation in context.operations {
            guard let root = context.facts.roots[operation.index] else { continue }
            let count = responseKeys(of: root, context).count
            guard count > context.limits.maximumRootFields else { continue }
            context.report(
                "The operation asks for \(count) fields of the root; at most \(context.limits.maximumRootFields) are allowed.",
                operation.node.location
            )
        }
    }
}

private func responseKeys(of selection: Int, _ context: ValidationContext) -> Set<String> {
    var keys: Set<String> = []
    var fragments: Set<Int> = []
    var open = [selection]
    while let selection = open.popLast() {
        for item in context.facts.selections[selection] {
            switch item {
            case .field(let index): keys.insert(context.facts.fields[index].field.responseKey)
            case .inline(let inner, _): open.append(inner)
            case .spread(let spread):
                guard let fragment = context.fragment(of: spread), fragments.insert(fragment).inserted,
                    let root = context.facts.roots[fragment]
                else { continue }
                open.append(root)
            }
        }
    }
    return keys
}
