import JSON

/// Turns an operation into selections by number.
///
/// The same fields on the same type are planned once, wherever they stand, so that a plan grows with the document and
/// not with the number of ways through it.
struct Planner {
    private let schema: Schema
    private let fragments: [String: FragmentDefinition]
    private var selections: [PlannedSelection] = []
    private var known: [Key: Int] = [:]
    private var switches: [String] = []
    private var fieldsLeft = 20_000

    /// The places of the fields a selection is made of, which name them within one document.
    private struct Key: Hashable {
        var type: String
        var parts: [Part]

        struct Part: Hashable {
            var location: SourceLocation
            var conditions: [Condition]
        }
    }

    init(document: Document, schema: Schema) {
        self.schema = schema
        fragments = Dictionary(document.fragments.map { ($0.name, $0) }) { first, _ in first }
    }

    mutating func plan(
        _ operation: OperationDefinition,
        rootType: Schema.NamedType
    ) throws(GraphQLError) -> PlanTree {
        let root = try plan([(operation.selectionSet, [])], of: rootType)
        return PlanTree(
            schema: schema,
            variables: operation.variables,
            selections: selections,
            root: root,
            switches: switches
        )
    }

    private mutating func plan(
        _ sets: [(set: SelectionSet, conditions: [Condition])],
        of type: Schema.NamedType
    ) throws(GraphQLError) -> Int {
        let key = Key(
            type: type.name,
            parts: sets.map { Key.Part(location: $0.set.location, conditions: $0.conditions) }
        )
        if let number = known[key] { return number }
        var collector = FieldCollector(schema: schema, fragments: fragments, type: type, switches: switches)
        for (set, conditions) in sets { collector.collect(set, conditions) }
        switches = collector.switches
        fieldsLeft -= collector.groups.count
        guard fieldsLeft > 0 else {
            throw GraphQLError("The operation is too large to be planned; ask for less at once.")
        }
        var fields: [PlannedField] = []
        for group in collector.groups { fields.append(try plan(group)) }
        selections.append(PlannedSelection(type: type, fields: fields))
        known[key] = selections.count - 1
        return selections.count - 1
    }

    private mutating func plan(_ group: FieldGroup) throws(GraphQLError) -> PlannedField {
        PlannedField(group, arguments: arguments(of: group), kind: try kind(of: group))
    }

    private func arguments(of group: FieldGroup) -> ArgumentPlan {
        let nodes = group.fields.first?.field.arguments ?? []
        let isConstant = !nodes.contains { Self.containsVariable($0.value) }
        if isConstant,
            let ready = try? coerceArgumentValues(
                group.definition.arguments,
                nodes,
                schema: schema,
                variables: JSONObject()
            )
        {
            return .ready(ready)
        }
        return .waiting(nodes)
    }

    private mutating func kind(of group: FieldGroup) throws(GraphQLError) -> PlannedField.Kind {
        if group.definition === MetaFields.typename { return .typename }
        guard let type = schema.type(named: group.definition.type.namedType) else {
            throw GraphQLError(
                "Unknown type \"\(group.definition.type.namedType)\".",
                locations: group.occurrences.map(\.location)
            )
        }
        if type.isLeaf { return .leaf(LeafKind(type)) }
        if type.isAbstract {
            var numbers: [String: Int] = [:]
            for possible in schema.possibleTypes(of: type) {
                numbers[possible.name] = try plan(group.subselections, of: possible)
            }
            return .abstract(type, numbers)
        }
        let number = try plan(group.subselections, of: type)
        if group.definition === MetaFields.schema { return .introspectSchema(number) }
        if group.definition === MetaFields.type { return .introspectType(number) }
        return .object(number)
    }

    private static func containsVariable(_ value: Value) -> Bool {
        switch value.kind {
        case .variable: true
        case .list(let values): values.contains(where: containsVariable)
        case .object(let fields): fields.contains { containsVariable($0.value) }
        default: false
        }
    }
}
