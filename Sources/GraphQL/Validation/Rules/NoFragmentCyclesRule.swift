extension ValidationRule {
    /// Fragments do not spread themselves, directly or through others (GraphQL §5.5.2.2).
    static let noFragmentCycles = ValidationRule("NoFragmentCycles") { context in
        guard !context.facts.spreads.isEmpty else { return }
        var search = CycleSearch(definitions: context.facts.definitions.count)
        for fragment in context.facts.fragments { search.visit(fragment, &context) }
    }
}

/// Walks the spreads of fragments, each fragment once, keeping the path that led there.
private struct CycleSearch {
    private var isFinished: [Bool]
    /// The spreads that led here.
    private var path: [Int] = []
    /// Where the path was when it came to a fragment that it is still in.
    private var positions: [Int?]

    init(definitions: Int) {
        isFinished = [Bool](repeating: false, count: definitions)
        positions = [Int?](repeating: nil, count: definitions)
    }

    mutating func visit(_ fragment: Int, _ context: inout ValidationContext) {
        guard !isFinished[fragment] else { return }
        isFinished[fragment] = true
        let definition = context.facts.definitions[fragment]
        positions[definition.namesake] = path.count
        for spread in definition.spreads {
            guard let next = context.facts.spreads[spread].fragment else { continue }
            path.append(spread)
            if let start = positions[next] {
                report(Array(path[start...]), &context)
            } else if path.count < 500 {
                visit(next, &context)
            } else {
                context.isUnfoldable = false
                context.report(
                    "Fragments spread each other more than 500 levels deep.",
                    definition.node.bodyStart
                )
            }
            path.removeLast()
        }
        positions[definition.namesake] = nil
    }

    private func report(_ cycle: [Int], _ context: inout ValidationContext) {
        context.isUnfoldable = false
        let spreads = cycle.map { context.facts.spreads[$0].node }
        let via = spreads.dropLast().map { "\"\($0.name)\"" }.joined(separator: ", ")
        context.report(
            "Cannot spread fragment \"\(spreads.last?.name ?? "")\" within itself"
                + (via.isEmpty ? "." : " via \(via)."),
            spreads.map(\.start)
        )
    }
}
