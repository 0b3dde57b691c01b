import JSON

/// A field as it stands in the document, with what must hold for it to be included.
struct CollectedField {
    var node: NodeView
    /// Its index among all that were collected.
    var ordinal: Int
    var conditions: [Condition]
}

/// Fields of one response key, gathered at one path.
struct FieldGroup {
    let responseKey: String
    let number: FieldNumber
    private(set) var fields: [CollectedField]

    /// `"key":` in UTF-8, escaped.
    var keyBytes: [UInt8] {
        var writer = JSONWriter(capacity: responseKey.utf8.count + 3)
        writer.string(responseKey)
        writer.byte(UInt8(ascii: ":"))
        return writer.bytes
    }

    init(_ field: CollectedField, number: FieldNumber) {
        responseKey = field.node.responseKey.string
        self.number = number
        fields = [field]
    }

    mutating func add(_ field: CollectedField) {
        fields.append(field)
    }

    /// The selection sets below, with what must still hold for each once the
    /// field itself is included.
    var subselections: [(set: NodeView, conditions: [Condition])] {
        let isUniform = fields.allSatisfy { $0.conditions == fields[0].conditions }
        return fields.compactMap { field in
            field.node.selectionSet.map { ($0, isUniform ? [] : field.conditions) }
        }
    }
}

/// GraphQL §6.3.2 CollectFields, for one object type, with conditions on variables
/// kept instead of decided.
struct FieldCollector {
    private let index: SchemaIndex
    private let fragments: FragmentTable
    private let type: TypeNumber
    /// The index of each variable among the plan's switches.
    private(set) var switches: [String]
    private(set) var groups: [FieldGroup] = []
    private var keys = NameList()
    private var visited: Set<VisitedFragment> = []
    private var ordinal = 0

    private struct VisitedFragment: Hashable {
        var number: Int
        var conditions: [Condition]
    }

    init(_ index: SchemaIndex, _ fragments: FragmentTable, type: TypeNumber, switches: [String]) {
        self.index = index
        self.fragments = fragments
        self.type = type
        self.switches = switches
    }

    mutating func collect(_ set: NodeView, _ conditions: [Condition]) {
        for node in set.children {
            guard let conditions = adding(directivesOf: node, to: conditions) else { continue }
            switch node.kind {
            case .field: collect(CollectedField(node: node, ordinal: ordinal, conditions: conditions))
            case .fragmentSpread:
                guard let number = fragments.number(of: node.text), isFirst(number, conditions) else { continue }
                let fragment = fragments.nodes[number]
                guard applies(fragment.typeNode.text), let set = fragment.selectionSet else { continue }
                collect(set, conditions)
            default:
                guard node.text.isEmpty || applies(node.text), let set = node.selectionSet else { continue }
                collect(set, conditions)
            }
        }
    }

    private mutating func collect(_ field: CollectedField) {
        ordinal += 1
        let key = field.node.responseKey
        if let position = keys.position(of: key) {
            groups[position].add(field)
        } else if let number = index.field(named: field.node.text, of: type) {
            keys.insert(key)
            groups.append(FieldGroup(field, number: number))
        }
    }

    private func applies(_ typeCondition: NameSlice) -> Bool {
        guard let condition = index.type(named: typeCondition) else { return false }
        return condition == type || index.isPossible(type, for: condition)
    }

    /// Whether a fragment brings anything new; one that stood here
    /// unconditionally has brought all it can.
    private mutating func isFirst(_ number: Int, _ conditions: [Condition]) -> Bool {
        if visited.contains(VisitedFragment(number: number, conditions: [])) { return false }
        return visited.insert(VisitedFragment(number: number, conditions: conditions)).inserted
    }

    /// The conditions with those of `@skip` and `@include`; `nil` when these exclude for good.
    private mutating func adding(directivesOf node: NodeView, to conditions: [Condition]) -> [Condition]? {
        var conditions = conditions
        for directive in node.children where directive.kind == .directive {
            let isInclude = directive.text == "include"
            guard isInclude || directive.text == "skip", let value = directive.argument("if")?.value else { continue }
            if value.kind == .boolean {
                if value.flags.contains(.isTrue) != isInclude { return nil }
            } else if value.kind == .variable {
                let condition = Condition(variable: number(of: value.name), expected: isInclude)
                if !conditions.contains(condition) { conditions.append(condition) }
            }
        }
        return conditions
    }

    private mutating func number(of variable: String) -> Int {
        if let number = switches.firstIndex(of: variable) { return number }
        switches.append(variable)
        return switches.count - 1
    }
}

/// The fragments of a document by name; the first where several share one.
struct FragmentTable {
    private(set) var nodes: [NodeView] = []
    private var names = NameList()

    init(_ root: NodeView) {
        for node in root.children where node.kind == .fragmentDefinition && names.insert(node.text).isNew {
            nodes.append(node)
        }
    }

    func number(of name: NameSlice) -> Int? { names.position(of: name) }
}
