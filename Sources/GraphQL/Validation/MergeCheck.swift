/// The work behind the rule that overlapping fields can be merged.
///
/// Fields are told by their number among the facts, fields at a path of the response by their
/// number in `entries`.
struct MergeCheck {
    /// A field at a path of the response, with the field whose selection it came from.
    struct Entry {
        let field: Int
        /// The number of an entry.
        let parent: Int?
    }

    /// How many fields and fragments were looked at.
    private(set) var steps = 0
    private(set) var entries: [Entry] = []
    /// Beyond so many nothing is looked at any more; a hostile document uses it up.
    private let maximumSteps: Int
    private let index: SchemaIndex
    private let facts: DocumentFacts
    private var shapesSeen: Set<[Int]> = []
    private var identitiesSeen: Set<[Int]> = []
    private var reported: Set<[Int]> = []
    /// The arguments of fields that were compared, by the number of the field.
    private var argumentsWritten: [Int: [UInt8]] = [:]
    /// For each field and definition the last unfolding that came to it.
    private var visits: (fields: [Int32], definitions: [Int32])
    private var unfoldings: Int32 = 0

    init(_ facts: DocumentFacts, _ index: SchemaIndex, maximumSteps: Int) {
        self.facts = facts
        self.index = index
        self.maximumSteps = maximumSteps
        visits = (
            [Int32](repeating: 0, count: facts.fields.count), [Int32](repeating: 0, count: facts.definitions.count)
        )
    }

    var isExhausted: Bool { steps >= maximumSteps }

    /// Whether anything was told.
    var hasConflicts: Bool { !reported.isEmpty }

    /// Checks all fields below a definition, with those of the fragments it spreads.
    mutating func check(_ definition: Int, _ context: inout ValidationContext) {
        guard let set = facts.definitions[definition].node.selectionSet else { return }
        let fields = unfold([(set, nil)])
        checkShapes(fields, &context)
        checkIdentity(fields, &context)
    }

    /// Whether a definition was come to by the last check of another.
    func wasVisited(_ definition: Int) -> Bool { visits.definitions[definition] != 0 }

    /// The fields of selection sets that stand at one path, in the document's order, each fragment
    /// looked into once.
    private mutating func unfold(_ sets: [(set: NodeView, parent: Int?)]) -> [Int] {
        unfoldings += 1
        let start = entries.count
        for (set, parent) in sets {
            var open = [set]
            while let set = open.popLast() {
                for node in set.children {
                    steps += 1
                    if node.kind == .field {
                        add(Int(facts.usesByNode[node.index]), parent)
                    } else if let inner = innerSet(of: node) {
                        open.append(inner)
                    }
                }
                if isExhausted { return [] }
            }
        }
        let isSorted = zip(entries[start...], entries[start...].dropFirst()).allSatisfy { $0.field < $1.field }
        return isSorted
            ? Array(start..<entries.count)
            : (start..<entries.count).sorted { entries[$0].field < entries[$1].field }
    }

    private mutating func add(_ field: Int, _ parent: Int?) {
        guard visits.fields[field] != unfoldings else { return }
        visits.fields[field] = unfoldings
        entries.append(Entry(field: field, parent: parent))
    }

    /// What an inline fragment or a spread stands for, the latter once in an unfolding.
    private mutating func innerSet(of node: NodeView) -> NodeView? {
        guard node.kind == .fragmentSpread else { return node.selectionSet }
        guard let fragment = facts.fragment(node), visits.definitions[fragment] != unfoldings else { return nil }
        visits.definitions[fragment] = unfoldings
        return facts.definitions[fragment].node.selectionSet
    }

    /// SameResponseShape, for all fields at one path.
    private mutating func checkShapes(_ fields: [Int], _ context: inout ValidationContext) {
        guard fields.count > 0, shapesSeen.insert(fields.map { entries[$0].field }).inserted else { return }
        for group in grouped(fields) {
            if group.count > 1, let first = group.first(where: { use($0).definition != nil }) {
                for other in group.dropFirst() { compareShapes(first, other, &context) }
            }
            checkShapes(unfold(selectionSets(of: group)), &context)
        }
    }

    /// FieldsInSetCanMerge's rule that fields with a parent in common are one field
    /// with one set of arguments.
    private mutating func checkIdentity(_ fields: [Int], _ context: inout ValidationContext) {
        guard fields.count > 0, identitiesSeen.insert(fields.map { entries[$0].field }).inserted else { return }
        for group in grouped(fields) {
            for common in commonParents(group) {
                for other in common.dropFirst() { compareIdentity(common[0], other, &context) }
                checkIdentity(unfold(selectionSets(of: common)), &context)
            }
        }
    }

    private func use(_ entry: Int) -> DocumentFacts.FieldUse { facts.fields[entries[entry].field] }

    private func selectionSets(of group: [Int]) -> [(set: NodeView, parent: Int?)] {
        group.compactMap { entry in use(entry).selectionSet.map { ($0, entry) } }
    }

    /// By response name, in order of first appearance.
    private func grouped(_ fields: [Int]) -> [[Int]] {
        var names = NameList()
        var groups: [[Int]] = []
        for entry in fields {
            let (position, isNew) = names.insert(use(entry).node.responseKey)
            if isNew {
                groups.append([entry])
            } else {
                groups[position].append(entry)
            }
        }
        return groups
    }

    /// Fields of two object types never meet; those of interfaces meet all others.
    private func commonParents(_ group: [Int]) -> [[Int]] {
        guard group.count > 1 else { return [group] }
        var abstract: [Int] = []
        var concrete: [TypeNumber: [Int]] = [:]
        for entry in group {
            if let parent = use(entry).parent, index[parent].kind == .object {
                concrete[parent, default: []].append(entry)
            } else {
                abstract.append(entry)
            }
        }
        guard !concrete.isEmpty else { return [abstract] }
        return concrete.sorted { $0.key.value < $1.key.value }.map { $0.value + abstract }
            .map { $0.sorted { entries[$0].field < entries[$1].field } }
    }
}

// The comparisons, and how a conflict is told.
extension MergeCheck {
    private mutating func compareShapes(_ left: Int, _ right: Int, _ context: inout ValidationContext) {
        steps += 1
        guard let definition = use(left).definition, let other = use(right).definition else { return }
        let (type, otherType) = (index[definition].type, index[other].type)
        guard type != otherType, !haveOneShape(type, otherType) else { return }
        let written = (context.written(type), context.written(otherType))
        report(left, right, "they return conflicting types \"\(written.0)\" and \"\(written.1)\"", &context)
    }

    private func haveOneShape(_ left: ReferenceNumber, _ right: ReferenceNumber) -> Bool {
        let (left, right) = (index[left], index[right])
        guard left.isNonNull == right.isNonNull else { return false }
        if let left = left.element, let right = right.element { return haveOneShape(left, right) }
        guard left.element == nil, right.element == nil else { return false }
        guard let leftType = left.namedType, let rightType = right.namedType else { return true }
        return index[leftType].isLeaf || index[rightType].isLeaf ? leftType == rightType : true
    }

    private mutating func compareIdentity(_ left: Int, _ right: Int, _ context: inout ValidationContext) {
        steps += 1
        let (field, other) = (use(left).node, use(right).node)
        if field.text != other.text {
            report(left, right, "\"\(field.name)\" and \"\(other.name)\" are different fields", &context)
        } else if arguments(of: entries[left].field) != arguments(of: entries[right].field) {
            report(left, right, "they have differing arguments", &context)
        }
    }

    /// A field's arguments as text in which order does not matter, written once however
    /// often they are compared.
    ///
    /// As bytes, because a `String` is equal to others that look the same.
    private mutating func arguments(of field: Int) -> [UInt8] {
        if let known = argumentsWritten[field] { return known }
        var parts: [String] = []
        for child in facts.fields[field].node.children where child.kind == .argument {
            parts.append("\(child.name):\(child.value.written)")
        }
        guard !parts.isEmpty else { return [] }
        let written = Array(parts.sorted().joined(separator: ",").utf8)
        argumentsWritten[field] = written
        return written
    }

    private mutating func report(_ left: Int, _ right: Int, _ reason: String, _ context: inout ValidationContext) {
        guard reported.insert([entries[left].field, entries[right].field].sorted()).inserted else { return }
        var (left, right, reason) = (left, right, reason)
        var leftOffsets = [use(left).node.start]
        var rightOffsets = [use(right).node.start]
        var key = use(left).node.responseKey.string
        while let leftParent = entries[left].parent, let rightParent = entries[right].parent,
            entries[leftParent].field != entries[rightParent].field
        {
            reason = "subfields \"\(key)\" conflict because \(reason)"
            (left, right) = (leftParent, rightParent)
            key = use(left).node.responseKey.string
            leftOffsets.insert(use(left).node.start, at: 0)
            rightOffsets.insert(use(right).node.start, at: 0)
        }
        context.report(
            "Fields \"\(key)\" conflict because \(reason). Use different aliases on the fields to fetch both if this was intentional.",
            leftOffsets + rightOffsets
        )
    }
}

extension NodeView {
    /// The value as text in which the order of an object's fields does not matter.
    fileprivate var written: String {
        switch kind {
        case .variable: "$" + name
        case .string: PrintedText.quoted(string)
        case .list: "[" + children.map(\.written).joined(separator: ",") + "]"
        case .object: "{" + children.map { "\($0.name):\($0.value.written)" }.sorted().joined(separator: ",") + "}"
        default: name
        }
    }
}
