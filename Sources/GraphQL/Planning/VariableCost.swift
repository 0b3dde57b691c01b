public import JSON

/// The cost of an operation whose pages have sizes from variables, ready to be
/// computed for each request.
///
/// It counts as validation does, on the merged fields of the plan: each costs one, times the pages
/// it stands in. Each selection's cost is a fixed part and a part for each row of the page it
/// inherits, so that each is looked at once however often it is used.
public struct VariableCost: Sendable {
    /// How large a page is.
    enum PageSize: Sendable {
        /// The field does not say.
        case inherited
        case constant(Int)
        /// Read from the request; this when it is not given, and as if the field did not
        /// say when that is nothing.
        case variable(String, otherwise: Int?)
    }

    private struct CostField: Sendable {
        let page: PageSize
        /// How many lists nest in the field's type; none for an object.
        let lists: Int
        /// The numbers of the selections below it.
        let selections: [Int]
    }

    private struct CostSelection: Sendable {
        var leaves = 0
        var fields: [CostField] = []
    }

    /// What a selection costs: once, and for each row of the page above it.
    private struct Measure {
        var fixed = 0
        var perRow = 0
    }

    private let selections: [CostSelection]
    private let root: Int
    private let defaultSize: Int
    private let maximumSize: Int
    private let maximumCost: Int
    /// Far above any limit, and far below what overflows when multiplied.
    private static let infinity = 1 << 40

    /// `nil` when no variable can bring the operation above the limit.
    init?(_ tree: PlanTree, limits: ValidationLimits) {
        guard limits.maximumCost < .max else { return nil }
        selections = tree.selections.map { Self.costs(of: $0, in: tree) }
        root = tree.root
        defaultSize = limits.defaultPageSize
        maximumSize = limits.maximumPageSize
        maximumCost = limits.maximumCost
        let depends = selections.contains { $0.fields.contains { if case .variable = $0.page { true } else { false } } }
        guard depends, cost({ _, _ in limits.maximumPageSize }) > maximumCost else { return nil }
    }

    /// What the operation costs with these variables, as they were sent.
    public func cost(variables: JSONObject) -> Int {
        cost { name, otherwise in Self.integer(variables[name]) ?? otherwise }
    }

    /// Refuses variables that make the operation cost more than is allowed.
    public func check(variables: JSONObject) throws(RequestErrors) {
        let cost = cost(variables: variables)
        guard cost > maximumCost else { return }
        let error = GraphQLError(
            "With these variables the operation costs \(cost); at most \(maximumCost) are allowed. "
                + "Ask for fewer fields, or for smaller pages.",
            extensions: ["cost": .int(Int64(cost)), "maximumCost": .int(Int64(maximumCost))]
        )
        throw RequestErrors(kind: .validation, errors: [error])
    }

    private func cost(_ value: (String, Int?) -> Int?) -> Int {
        var known = [Measure?](repeating: nil, count: selections.count)
        return total(measure(root, &known, value), page: defaultSize)
    }

    /// Measures each selection once, however many fields it is below of.
    private func measure(_ number: Int, _ known: inout [Measure?], _ value: (String, Int?) -> Int?) -> Measure {
        if let measure = known[number] { return measure }
        var sum = Measure(fixed: selections[number].leaves)
        for field in selections[number].fields {
            let own = size(of: field.page, value)
            let page = field.lists == 0 ? own ?? defaultSize : defaultSize
            // An object is of one type only, so of several selections the dearest counts.
            var inner = 0
            for below in field.selections { inner = max(inner, total(measure(below, &known, value), page: page)) }
            for _ in 1..<max(1, field.lists) { inner = Self.capped(inner, times: defaultSize) }
            if field.lists > 0, own == nil {
                sum.fixed += 1
                sum.perRow = min(sum.perRow + inner, Self.infinity)
            } else {
                let rows = field.lists > 0 ? own ?? 1 : 1
                sum.fixed = min(sum.fixed + 1 + Self.capped(inner, times: rows), Self.infinity)
            }
        }
        known[number] = sum
        return sum
    }

    private func total(_ measure: Measure, page: Int) -> Int {
        min(measure.fixed + Self.capped(measure.perRow, times: page), Self.infinity)
    }

    private func size(of page: PageSize, _ value: (String, Int?) -> Int?) -> Int? {
        switch page {
        case .inherited: nil
        case .constant(let size): min(max(1, size), maximumSize)
        case .variable(let name, let otherwise): value(name, otherwise).map { min(max(1, $0), maximumSize) }
        }
    }

    private static func capped(_ cost: Int, times size: Int) -> Int {
        let (product, overflow) = cost.multipliedReportingOverflow(by: size)
        return overflow ? infinity : min(product, infinity)
    }

    private static func integer(_ value: JSONValue?) -> Int? {
        switch value {
        case .int(let number)?: Int(clamping: number)
        case .double(let number)?: Int(exactly: number.rounded())
        default: nil
        }
    }
}

// Reading the plan.
extension VariableCost {
    private static func costs(of selection: PlannedSelection, in tree: PlanTree) -> CostSelection {
        var costs = CostSelection()
        for field in selection.fields {
            let below: [Int]
            switch field.kind {
            case .leaf, .typename:
                costs.leaves += 1
                continue
            case .object(let number), .introspectSchema(let number), .introspectType(let number): below = [number]
            case .abstract(_, let numbers): below = numbers.values.sorted()
            }
            let isCounted = !field.field.parentName.hasPrefix("__")
            costs.fields.append(
                CostField(
                    page: pageSize(of: field, in: tree),
                    lists: isCounted ? field.shape.nonNull.count - 1 : 0,
                    selections: below
                )
            )
        }
        return costs
    }

    private static func pageSize(of field: PlannedField, in tree: PlanTree) -> PageSize {
        for name in SchemaIndex.pageArguments.lazy.map(\.description) {
            switch field.arguments {
            case .ready(let arguments):
                if let size = integer(arguments[name]) { return .constant(size) }
            case .waiting(let nodes):
                guard let value = nodes.first(where: { $0.name == name })?.value else {
                    if let size = field.field.defaultInteger(of: name) { return .constant(size) }
                    continue
                }
                if case .variable(let variable) = value.kind {
                    let given = tree.variables.first { $0.name == variable }?.defaultValue?.intValue
                    let otherwise = given.map { Int(clamping: $0) } ?? field.field.defaultInteger(of: name)
                    return .variable(variable, otherwise: otherwise)
                }
                if let size = value.intValue { return .constant(Int(clamping: size)) }
            }
        }
        return field.field.assumedSize.map { .constant($0) } ?? .inherited
    }
}
