/// Finds directives whose definitions use themselves (GraphQL §3.13), in time that grows
/// with the definitions alone.
struct DirectiveCycles {
    private let schema: Schema
    /// Directives, in the schema's order, then the input types they lead to.
    private var names: [String] = []
    private var numbers: [String: Int] = [:]
    /// What each refers to.
    private var references: [[Int]] = []

    init(schema: Schema) {
        self.schema = schema
        for directive in schema.directives { _ = number(of: "@\(directive.name)") }
        var next = 0
        while next < names.count {
            var numbers: [Int] = []
            for name in referredNames(names[next]) { numbers.append(number(of: name)) }
            references.append(numbers)
            next += 1
        }
    }

    /// The first directive of each group that refer to each other, and the way from it
    /// back to itself, as names.
    func found() -> [(directive: DirectiveDefinition, way: String)] {
        let groups = groups()
        var told: Set<Int> = []
        var found: [(DirectiveDefinition, String)] = []
        for directive in schema.directives {
            guard let start = numbers["@\(directive.name)"], !told.contains(groups[start]),
                let way = way(backTo: start, groups)
            else { continue }
            told.insert(groups[start])
            found.append((directive, way.map { names[$0] }.joined(separator: ", ")))
        }
        return found
    }

    private mutating func number(of name: String) -> Int {
        if let number = numbers[name] { return number }
        numbers[name] = names.count
        names.append(name)
        return names.count - 1
    }

    /// What the definition of a directive or input type refers to.
    private func referredNames(_ name: String) -> [String] {
        if name.hasPrefix("@") {
            return schema.directive(named: String(name.dropFirst()))?.arguments.flatMap { argument in
                applied(argument.directives) + [argument.type.namedType]
            } ?? []
        }
        guard let type = schema.type(named: name) else { return [] }
        let fields = type.inputFields.flatMap { applied($0.directives) + [$0.type.namedType] }
        return applied(type.directives) + fields + type.enumValues.flatMap { applied($0.directives) }
    }

    private func applied(_ directives: [Directive]) -> [String] { directives.map { "@\($0.name)" } }

    private func way(backTo goal: Int, _ groups: [Int]) -> [Int]? {
        var origins: [Int: Int] = [:]
        var next = [goal]
        while let last = next.popLast() {
            for other in references[last] where groups[other] == groups[goal] {
                guard other != goal else {
                    var way = [goal]
                    var node = last
                    while node != goal, let origin = origins[node] {
                        way.append(node)
                        node = origin
                    }
                    return way.reversed()
                }
                guard origins[other] == nil else { continue }
                origins[other] = last
                next.append(other)
            }
        }
        return nil
    }
}

// Strongly connected components, as Tarjan finds them, with a list instead of calls.
extension DirectiveCycles {
    /// By number: all that refer to each other, directly or through others, have the same.
    private func groups() -> [Int] {
        var groups = [Int](repeating: -1, count: names.count)
        var (orders, lowest) = (groups, groups)
        var open: [Int] = []
        var path: [(node: Int, next: Int)] = []
        var count = 0
        for start in names.indices where orders[start] < 0 {
            path.append((start, 0))
            while let (node, next) = path.last {
                if next == 0 {
                    (orders[node], lowest[node]) = (count, count)
                    count += 1
                    open.append(node)
                }
                if next < references[node].count {
                    path[path.count - 1].next += 1
                    let other = references[node][next]
                    if orders[other] < 0 {
                        path.append((other, 0))
                    } else if groups[other] < 0 {
                        lowest[node] = min(lowest[node], orders[other])
                    }
                    continue
                }
                path.removeLast()
                if let (parent, _) = path.last { lowest[parent] = min(lowest[parent], lowest[node]) }
                guard lowest[node] == orders[node] else { continue }
                while let member = open.popLast() {
                    groups[member] = node
                    if member == node { break }
                }
            }
        }
        return groups
    }
}
