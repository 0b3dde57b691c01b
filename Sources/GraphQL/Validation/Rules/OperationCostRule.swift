import JSON

extension ValidationRule {
    /// An operation costs no more than allowed; not in the specification.
    ///
    /// Each field costs one, times the sizes of all pages it stands in. Fields of the introspection system cost one.
    static let operationCost = ValidationRule("OperationCost") { context in
        guard context.isUnfoldable, context.limits.maximumCost < .max else { return }
        var measure = CostMeasure(context)
        for operation in context.operations {
            let cost = measure.cost(ofDefinition: operation.index, page: nil)
            guard cost > context.limits.maximumCost else { continue }
            context.report(
                "The operation costs \(cost); at most \(context.limits.maximumCost) are allowed. "
                    + "Ask for fewer fields, or for smaller pages with limit: or first: and a number.",
                [operation.node.location],
                extensions: ["cost": .int(Int64(cost)), "maximumCost": .int(Int64(context.limits.maximumCost))]
            )
        }
    }
}

/// Measures each fragment once for each size of page it may inherit, however often it is spread.
private struct CostMeasure {
    private let context: ValidationContext
    private var known: [Key: Int] = [:]
    /// Far above any limit, and far below what overflows when multiplied by pages.
    private static let infinity = 1 << 40

    private struct Key: Hashable {
        var definition: Int
        var page: Int?
    }

    init(_ context: ValidationContext) {
        self.context = context
    }

    /// The cost of a definition's fields, below an object that named a page's size or none.
    mutating func cost(ofDefinition definition: Int, page: Int?) -> Int {
        let key = Key(definition: definition, page: page)
        if let cost = known[key] { return cost }
        guard let root = context.facts.roots[definition] else { return 0 }
        var spread: Set<Int> = []
        let cost = cost(ofSelection: root, page: page, &spread)
        known[key] = cost
        return cost
    }

    /// Within one selection a fragment counts once, because spread twice it gives the same fields.
    private mutating func cost(ofSelection selection: Int, page: Int?, _ spread: inout Set<Int>) -> Int {
        var total = 0
        for item in context.facts.selections[selection] {
            switch item {
            case .field(let index): total += cost(ofField: index, page: page)
            case .inline(let inner, _): total += cost(ofSelection: inner, page: page, &spread)
            case .spread(let index):
                guard let fragment = context.fragment(of: index), spread.insert(fragment).inserted else { continue }
                total += cost(ofDefinition: fragment, page: page)
            }
            total = min(total, Self.infinity)
        }
        return total
    }

    private mutating func cost(ofField index: Int, page: Int?) -> Int {
        let use = context.facts.fields[index]
        guard let selection = use.selection, let definition = use.definition else { return 1 }
        var spread: Set<Int> = []
        let own = pageSize(of: use.field)
        guard definition.type.isList, !definition.parentName.hasPrefix("__") else {
            return 1 + cost(ofSelection: selection, page: own, &spread)
        }
        var inner = cost(ofSelection: selection, page: nil, &spread)
        var size = own ?? page ?? context.limits.defaultPageSize
        var type = definition.type.element
        while let list = type {
            inner = min(inner * size, Self.infinity)
            size = context.limits.defaultPageSize
            type = list.element
        }
        return 1 + inner
    }

    private func pageSize(of field: Field) -> Int? {
        let argument = field.arguments.first { $0.name == "limit" || $0.name == "first" || $0.name == "last" }
        guard let value = argument?.value else { return nil }
        if case .variable = value.kind { return context.limits.defaultPageSize }
        return value.intValue.map { min(max(1, Int($0)), context.limits.maximumPageSize) }
    }
}
