import JSON

/// A plan with one request's variables: what is included is decided.
struct PreparedRequest: Sendable {
    let tree: PlanTree
    let variables: JSONObject
    /// The included fields of each selection, in the order of the response.
    let fields: [[PlannedField]]

    init(_ tree: PlanTree, variables: JSONObject) {
        self.tree = tree
        self.variables = variables
        guard tree.isConditional else {
            fields = tree.allFields
            return
        }
        let switches = tree.switches.map { variables[$0]?.boolValue ?? false }
        fields = tree.selections.map { selection in
            selection.isConditional ? Self.included(selection.fields, switches) : selection.fields
        }
    }

    /// The arguments of a field, with this request's variables.
    func arguments(of field: PlannedField) throws(GraphQLError) -> Arguments {
        switch field.arguments {
        case .ready(let arguments): arguments
        case .waiting(let nodes):
            try coerceArgumentValues(field.field.arguments, nodes, schema: tree.schema, variables: variables)
        }
    }

    /// What is selected below a field.
    func selection(of field: PlannedField) -> SelectedFields {
        switch field.kind {
        case .leaf, .typename: SelectedFields(request: self, selections: [])
        case .object(let number), .introspectSchema(let number), .introspectType(let number):
            SelectedFields(request: self, selections: [number])
        case .abstract(_, let numbers): SelectedFields(request: self, selections: numbers.values.sorted())
        }
    }

    /// Where the document asks for a field, in as far as it is included.
    func locations(of field: PlannedField) -> [SourceLocation] {
        let switches = tree.switches.map { variables[$0]?.boolValue ?? false }
        var seen: Set<SourceLocation> = []
        return field.occurrences.filter { Self.holds($0, switches) }.map(\.location).filter { seen.insert($0).inserted }
    }

    private static func holds(_ occurrence: PlannedField.Occurrence, _ switches: [Bool]) -> Bool {
        occurrence.conditions.allSatisfy { switches[$0.variable] == $0.expected }
    }

    /// A field stands where the first of its occurrences stands that is included.
    private static func included(_ fields: [PlannedField], _ switches: [Bool]) -> [PlannedField] {
        var included: [(ordinal: Int, field: PlannedField)] = []
        for field in fields {
            guard let first = field.occurrences.first(where: { holds($0, switches) }) else { continue }
            included.append((first.ordinal, field))
        }
        return included.sorted { $0.ordinal < $1.ordinal }.map(\.field)
    }
}
