/// The work behind the rule that overlapping fields can be merged.
struct MergeCheck {
    /// A field at a place of the response, with the field whose selection it came from.
    final class Entry {
        let index: Int
        let parent: Entry?

        init(index: Int, parent: Entry?) {
            self.index = index
            self.parent = parent
        }
    }

    /// How many more fields will be looked at; a hostile document uses it up.
    private(set) var budget: Int
    private var shapesSeen: Set<[Int]> = []
    private var identitiesSeen: Set<[Int]> = []
    private var reported: Set<[Int]> = []

    init(budget: Int) {
        self.budget = budget
    }

    /// The fields of selection sets that stand at one place, each fragment looked into once.
    mutating func unfold(
        _ selections: [(selection: Int, parent: Entry?)],
        _ context: ValidationContext
    ) -> [Entry] {
        var entries: [Entry] = []
        var fields: Set<Int> = []
        var fragments: Set<Int> = []
        for (selection, parent) in selections {
            var open = [selection]
            while let selection = open.popLast() {
                for item in context.facts.selections[selection] {
                    budget -= 1
                    switch item {
                    case .field(let index):
                        if fields.insert(index).inserted { entries.append(Entry(index: index, parent: parent)) }
                    case .inline(let inner, _): open.append(inner)
                    case .spread(let spread):
                        guard let fragment = context.fragment(of: spread), fragments.insert(fragment).inserted,
                            let root = context.facts.roots[fragment]
                        else { continue }
                        open.append(root)
                    }
                }
            }
        }
        return budget > 0 ? entries.sorted { $0.index < $1.index } : []
    }

    /// SameResponseShape, for all fields at one place.
    mutating func checkShapes(_ entries: [Entry], _ context: inout ValidationContext) {
        guard shapesSeen.insert(entries.map(\.index).sorted()).inserted else { return }
        for group in grouped(entries, context) {
            if let first = group.first(where: { definition($0, context) != nil }) {
                for other in group.dropFirst() { compareShapes(first, other, &context) }
            }
            let inner = unfold(selections(of: group, context), context)
            if !inner.isEmpty { checkShapes(inner, &context) }
        }
    }

    /// FieldsInSetCanMerge's rule that fields with a parent in common are one field with one set of arguments.
    mutating func checkIdentity(_ entries: [Entry], _ context: inout ValidationContext) {
        guard identitiesSeen.insert(entries.map(\.index).sorted()).inserted else { return }
        for group in grouped(entries, context) {
            for common in commonParents(group, context) {
                if let first = common.first {
                    for other in common.dropFirst() { compareIdentity(first, other, &context) }
                }
                let inner = unfold(selections(of: common, context), context)
                if !inner.isEmpty { checkIdentity(inner, &context) }
            }
        }
    }

    private func definition(_ entry: Entry, _ context: ValidationContext) -> Schema.Field? {
        context.facts.fields[entry.index].definition
    }

    private func selections(
        of group: [Entry],
        _ context: ValidationContext
    ) -> [(selection: Int, parent: Entry?)] {
        group.compactMap { entry in context.facts.fields[entry.index].selection.map { ($0, entry) } }
    }

    /// By response name, in order of first appearance.
    private func grouped(_ entries: [Entry], _ context: ValidationContext) -> [[Entry]] {
        var positions: [String: Int] = [:]
        var groups: [[Entry]] = []
        for entry in entries {
            let key = context.facts.fields[entry.index].field.responseKey
            if let position = positions[key] {
                groups[position].append(entry)
            } else {
                positions[key] = groups.count
                groups.append([entry])
            }
        }
        return groups
    }

    /// Fields of two object types never meet; those of interfaces meet all others.
    private func commonParents(_ group: [Entry], _ context: ValidationContext) -> [[Entry]] {
        guard group.count > 1 else { return [group] }
        var abstract: [Entry] = []
        var concrete: [String: [Entry]] = [:]
        for entry in group {
            guard let parent = context.facts.fields[entry.index].parent, parent.kind == .object else {
                abstract.append(entry)
                continue
            }
            concrete[parent.name, default: []].append(entry)
        }
        guard !concrete.isEmpty else { return [abstract] }
        return concrete.sorted { $0.key < $1.key }.map { ($0.value + abstract).sorted { $0.index < $1.index } }
    }
}

// The comparisons, and how a conflict is told.
extension MergeCheck {
    private mutating func compareShapes(_ left: Entry, _ right: Entry, _ context: inout ValidationContext) {
        guard let type = definition(left, context)?.type, let other = definition(right, context)?.type,
            !haveOneShape(type, other, context.schema)
        else { return }
        report(left, right, "they return conflicting types \"\(type)\" and \"\(other)\"", &context)
    }

    private func haveOneShape(_ left: TypeReference, _ right: TypeReference, _ schema: Schema) -> Bool {
        switch (left, right) {
        case (.nonNull(let left), .nonNull(let right)), (.list(let left), .list(let right)):
            return haveOneShape(left, right, schema)
        case (.named(let left), .named(let right)):
            guard let leftType = schema.type(named: left), let rightType = schema.type(named: right) else {
                return true
            }
            return leftType.isLeaf || rightType.isLeaf ? left == right : true
        default: return false
        }
    }

    private mutating func compareIdentity(_ left: Entry, _ right: Entry, _ context: inout ValidationContext) {
        let field = context.facts.fields[left.index].field
        let other = context.facts.fields[right.index].field
        if field.name != other.name {
            report(left, right, "\"\(field.name)\" and \"\(other.name)\" are different fields", &context)
        } else if !haveSameArguments(field.arguments, other.arguments) {
            report(left, right, "they have differing arguments", &context)
        }
    }

    private func haveSameArguments(_ left: [ArgumentNode], _ right: [ArgumentNode]) -> Bool {
        guard left.count == right.count else { return false }
        return left.allSatisfy { argument in
            guard let other = right.first(where: { $0.name == argument.name }) else { return false }
            return canonical(argument.value) == canonical(other.value)
        }
    }

    /// The value as text in which the order of an object's fields does not matter.
    private func canonical(_ value: Value) -> String {
        switch value.kind {
        case .string(let text): PrintedText.quoted(text.value)
        case .list(let values): "[" + values.map(canonical).joined(separator: ",") + "]"
        case .object(let fields):
            "{" + fields.map { "\($0.name):\(canonical($0.value))" }.sorted().joined(separator: ",") + "}"
        default: printValue(value)
        }
    }

    private mutating func report(
        _ left: Entry,
        _ right: Entry,
        _ reason: String,
        _ context: inout ValidationContext
    ) {
        guard reported.insert([left.index, right.index].sorted()).inserted else { return }
        var (left, right, reason) = (left, right, reason)
        var leftPlaces = [context.facts.fields[left.index].field.location]
        var rightPlaces = [context.facts.fields[right.index].field.location]
        var key = context.facts.fields[left.index].field.responseKey
        while let leftParent = left.parent, let rightParent = right.parent, leftParent.index != rightParent.index {
            reason = "subfields \"\(key)\" conflict because \(reason)"
            (left, right) = (leftParent, rightParent)
            key = context.facts.fields[left.index].field.responseKey
            leftPlaces.insert(context.facts.fields[left.index].field.location, at: 0)
            rightPlaces.insert(context.facts.fields[right.index].field.location, at: 0)
        }
        context.report(
            "Fields \"\(key)\" conflict because \(reason). Use different aliases on the fields to fetch both if this was intentional.",
            leftPlaces + rightPlaces
        )
    }
}
