extension ValidationRule {
    /// Fragments do not spread themselves, directly or through others (GraphQL §5.5.2.2).
    static let noFragmentCycles = ValidationRule("NoFragmentCycles") { context in
        var search = CycleSearch()
        for fragment in context.fragments { search.visit(fragment.index, &context) }
    }
}

/// Walks the spreads of fragments, each fragment once, keeping the path that led there.
private struct CycleSearch {
    private var finished: Set<Int> = []
    private var path: [Int] = []
    private var positions: [String: Int] = [:]

    mutating func visit(_ fragment: Int, _ context: inout ValidationContext) {
        guard finished.insert(fragment).inserted, case .fragment(let node) = context.document.definitions[fragment]
        else {
            return
        }
        positions[node.name] = path.count
        for spread in context.facts.spreadsByOwner[fragment] ?? [] {
            let name = context.facts.spreads[spread].spread.name
            path.append(spread)
            if let start = positions[name] {
                report(Array(path[start...]), name, &context)
            } else if let next = context.fragmentIndices[name] {
                if path.count < 500 {
                    visit(next, &context)
                } else {
                    context.isUnfoldable = false
                    context.report("Fragments spread each other more than 500 levels deep.", node.location)
                }
            }
            path.removeLast()
        }
        positions[node.name] = nil
    }

    private func report(_ cycle: [Int], _ name: String, _ context: inout ValidationContext) {
        context.isUnfoldable = false
        let spreads = cycle.map { context.facts.spreads[$0].spread }
        let via = spreads.dropLast().map { "\"\($0.name)\"" }.joined(separator: ", ")
        context.report(
            "Cannot spread fragment \"\(name)\" within itself" + (via.isEmpty ? "." : " via \(via)."),
            spreads.map(\.location)
        )
    }
}
