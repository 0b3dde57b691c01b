import JSON

/// Turns an operation into selections by number.
///
/// The same fields on the same type are planned once, wherever they stand, so that a plan grows
/// with the document and not with the number of ways through it.
struct Planner {
    private let schema: Schema
    private let index: SchemaIndex
    private let fragments: FragmentTable
    private var builder: NodeBuilder
    private var selections: [PlannedSelection] = []
    private var known: [Key: Int] = [:]
    private var switches: [String] = []
    private var fieldsLeft = 20_000

    /// The selection sets a selection is made of, which name it within one document.
    private struct Key: Hashable {
        var type: TypeNumber
        var parts: [Part]

        struct Part: Hashable {
            /// The number of the node.
            var set: Int
            var conditions: [Condition]
        }
    }

    init(_ root: NodeView, schema: Schema) {
        self.schema = schema
        index = schema.index
        fragments = FragmentTable(root)
        builder = NodeBuilder(root.bytes)
    }

    mutating func plan(_ operation: NodeView, rootType: TypeNumber) throws(GraphQLError) -> PlanTree {
        let set = operation.selectionSet.map { [(set: $0, conditions: [Condition]())] } ?? []
        let root = try plan(set, of: rootType)
        return PlanTree(
            schema: schema,
            variables: operation.children(.variableDefinition).map { builder.variable($0) },
            selections: selections,
            root: root,
            switches: switches
        )
    }

    private mutating func plan(
        _ sets: [(set: NodeView, conditions: [Condition])],
        of type: TypeNumber
    ) throws(GraphQLError) -> Int {
        let key = Key(type: type, parts: sets.map { Key.Part(set: $0.set.index, conditions: $0.conditions) })
        if let number = known[key] { return number }
        var collector = FieldCollector(index, fragments, type: type, switches: switches)
        for (set, conditions) in sets { collector.collect(set, conditions) }
        switches = collector.switches
        fieldsLeft -= collector.groups.count
        guard fieldsLeft > 0 else {
            throw GraphQLError("The operation is too large to be planned; ask for less at once.")
        }
        var fields: [PlannedField] = []
        fields.reserveCapacity(collector.groups.count)
        for group in collector.groups { fields.append(try plan(group)) }
        selections.append(PlannedSelection(type: object(type), fields: fields))
        known[key] = selections.count - 1
        return selections.count - 1
    }

    private func object(_ type: TypeNumber) -> Schema.NamedType { schema.types[Int(type.value)] }

    private mutating func plan(_ group: FieldGroup) throws(GraphQLError) -> PlannedField {
        let field = index.fieldObjects[Int(group.number.value)]
        let occurrences = group.fields.map { collected in
            PlannedField.Occurrence(
                ordinal: collected.ordinal,
                location: builder.location(collected.node.start),
                conditions: collected.conditions
            )
        }
        return PlannedField(
            group,
            field: field,
            arguments: arguments(of: field, group.fields[0].node),
            kind: try kind(of: field, group, occurrences),
            occurrences: occurrences
        )
    }

    private mutating func arguments(of field: Schema.Field, _ node: NodeView) -> ArgumentPlan {
        let nodes = builder.arguments(node)
        if nodes.isEmpty, field.arguments.isEmpty { return .ready(Arguments()) }
        let isConstant = !node.children.contains { $0.kind == .argument && $0.containsVariable }
        if isConstant,
            let ready = try? coerceArgumentValues(field.arguments, nodes, schema: schema, variables: JSONObject())
        {
            return .ready(ready)
        }
        return .waiting(nodes)
    }

    private mutating func kind(
        of field: Schema.Field,
        _ group: FieldGroup,
        _ occurrences: [PlannedField.Occurrence]
    ) throws(GraphQLError) -> PlannedField.Kind {
        if field === MetaFields.typename { return .typename }
        guard let type = index[group.number].namedType else {
            let message = "Unknown type \"\(field.type.namedType)\"."
            throw GraphQLError(message, locations: occurrences.map(\.location))
        }
        if index[type].isLeaf { return .leaf(LeafKind(object(type))) }
        let sets = group.subselections
        if object(type).isAbstract {
            var numbers: [String: Int] = [:]
            for possible in schema.possibleTypes(of: object(type)) {
                guard let number = index.type(object: possible) else { continue }
                numbers[possible.name] = try plan(sets, of: number)
            }
            return .abstract(object(type), numbers)
        }
        let number = try plan(sets, of: type)
        if field === MetaFields.schema { return .introspectSchema(number) }
        if field === MetaFields.type { return .introspectType(number) }
        return .object(number)
    }
}
