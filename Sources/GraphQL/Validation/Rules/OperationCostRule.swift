import JSON

extension ValidationRule {
    /// An operation costs no more than allowed; not in the specification.
    ///
    /// Each field costs one, times the sizes of all pages it stands in. Fields of the
    /// introspection system cost one.
    static let operationCost = ValidationRule("OperationCost") { context in
        guard context.isUnfoldable, context.limits.maximumCost < .max else { return }
        var measure = CostMeasure(context.index, context.facts, context.limits)
        for operation in context.facts.operations {
            let cost = measure.cost(ofDefinition: operation, page: nil)
            guard cost > context.limits.maximumCost else { continue }
            context.report(
                "The operation costs \(cost); at most \(context.limits.maximumCost) are allowed. "
                    + "Ask for fewer fields, or for smaller pages with limit: or first: and a number.",
                [context.facts.definitions[operation].node.bodyStart],
                extensions: ["cost": .int(Int64(cost)), "maximumCost": .int(Int64(context.limits.maximumCost))]
            )
        }
    }
}

/// Measures each fragment once for each size of page it may inherit, however often it is spread.
private struct CostMeasure {
    private let index: SchemaIndex
    private let facts: DocumentFacts
    private let limits: ValidationLimits
    private var known: [Key: Int] = [:]
    /// Far above any limit, and far below what overflows when multiplied by pages.
    private static let infinity = 1 << 40

    private struct Key: Hashable {
        var definition: Int
        var page: Int?
    }

    init(_ index: SchemaIndex, _ facts: DocumentFacts, _ limits: ValidationLimits) {
        self.index = index
        self.facts = facts
        self.limits = limits
    }

    /// The cost of a definition's fields, below an object that named a page's size or none.
    mutating func cost(ofDefinition definition: Int, page: Int?) -> Int {
        let key = Key(definition: definition, page: page)
        if !facts.spreads.isEmpty, let cost = known[key] { return cost }
        guard let set = facts.definitions[definition].node.selectionSet else { return 0 }
        var spread: Set<Int> = []
        let cost = cost(of: set, page: page, &spread)
        if !facts.spreads.isEmpty { known[key] = cost }
        return cost
    }

    /// Within one selection a fragment counts once, because spread twice it gives the same fields.
    private mutating func cost(of set: NodeView, page: Int?, _ spread: inout Set<Int>) -> Int {
        var total = 0
        for node in set.children {
            switch node.kind {
            case .field: total += cost(ofField: node, page: page)
            case .fragmentSpread:
                guard let fragment = facts.fragment(node), spread.insert(fragment).inserted else { continue }
                total += cost(ofDefinition: fragment, page: page)
            default: total += node.selectionSet.map { cost(of: $0, page: page, &spread) } ?? 0
            }
            total = min(total, Self.infinity)
        }
        return total
    }

    private mutating func cost(ofField node: NodeView, page: Int?) -> Int {
        let use = facts.field(node)
        guard let set = use.selectionSet, let definition = use.definition else { return 1 }
        var spread: Set<Int> = []
        let own = pageSize(of: node, definition)
        guard index[definition].isList, !index[definition].isIntrospection else {
            return 1 + cost(of: set, page: own, &spread)
        }
        var inner = cost(of: set, page: nil, &spread)
        var size = own ?? page ?? limits.defaultPageSize
        var type = index[index[definition].type].element
        while let list = type {
            inner = min(inner * size, Self.infinity)
            size = limits.defaultPageSize
            type = index[list].element
        }
        return 1 + inner
    }

    /// A size that is a variable counts as one row here; each request is checked once
    /// its variables are known.
    private func pageSize(of field: NodeView, _ definition: FieldNumber) -> Int? {
        for (position, name) in SchemaIndex.pageArguments.enumerated() {
            let argument = field.children.first { $0.kind == .argument && $0.text == name }
            let size: Int? =
                switch argument?.value.kind {
                case .variable: 1
                case .int: argument.flatMap { Int($0.value.name) }
                case nil: index[definition].defaultPageSizes[position]
                default: nil
                }
            if let size { return min(max(1, size), limits.maximumPageSize) }
        }
        return index[definition].assumedSize
    }
}
