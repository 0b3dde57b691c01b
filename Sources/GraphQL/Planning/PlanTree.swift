/// The selections of an operation, by number, each for one object type.
final class PlanTree: Sendable {
    let schema: Schema
    let variables: [VariableDefinition]
    let selections: [PlannedSelection]
    /// The number of the selection at the root.
    let root: Int
    /// The fields of each selection, for requests that skip nothing.
    let allFields: [[PlannedField]]
    /// Whether what is included depends on variables.
    let isConditional: Bool
    /// The variables that decide what is included.
    let switches: [String]
    /// What executions have worked out from the plan and keep for the next.
    let stepCache = StepCache()

    init(
        schema: Schema,
        variables: [VariableDefinition],
        selections: [PlannedSelection],
        root: Int,
        switches: [String]
    ) {
        self.schema = schema
        self.variables = variables
        self.selections = selections
        self.root = root
        self.switches = switches
        allFields = selections.map(\.fields)
        isConditional = selections.contains { $0.isConditional }
    }
}

/// What is selected of objects of one type at one path.
struct PlannedSelection: Sendable {
    let type: Schema.NamedType
    let fields: [PlannedField]
    let isConditional: Bool

    init(type: Schema.NamedType, fields: [PlannedField]) {
        self.type = type
        self.fields = fields
        isConditional = fields.contains { $0.occurrences.contains { !$0.conditions.isEmpty } }
    }
}

/// All fields of one response key at one path, merged.
///
/// A class, because executions walk over it for every row and must not copy it.
final class PlannedField: Sendable {
    let field: Schema.Field
    let responseKey: String
    /// `"key":` in UTF-8, escaped, as the first member of an object.
    let keyBytes: [UInt8]
    /// The same with a comma before it, as a further member.
    let furtherKeyBytes: [UInt8]
    let arguments: ArgumentPlan
    let shape: TypeShape
    let kind: Kind
    /// The ways in which it can be included, in the order of the document; each
    /// field of the document once.
    let occurrences: [Occurrence]
    /// What the engine must do with the field's value.
    enum Kind: Sendable {
        case leaf(LeafKind)
        /// The number of the selection.
        case object(Int)
        /// The number of the selection for each possible type.
        case abstract(Schema.NamedType, [String: Int])
        case typename
        case introspectSchema(Int)
        case introspectType(Int)
    }

    /// One location in the document that asks for the field.
    struct Occurrence: Sendable, Hashable {
        /// Its index among all that the selection's fields have.
        var ordinal: Int
        var location: SourceLocation
        /// What must all hold.
        var conditions: [Condition]
    }

    init(
        _ group: FieldGroup,
        field: Schema.Field,
        arguments: ArgumentPlan,
        kind: Kind,
        occurrences: [Occurrence]
    ) {
        self.field = field
        responseKey = group.responseKey
        keyBytes = group.keyBytes
        furtherKeyBytes = [UInt8(ascii: ",")] + keyBytes
        self.arguments = arguments
        shape = TypeShape(field.type)
        self.kind = kind
        self.occurrences = occurrences
    }
}

/// A variable and the value it must have for something to be included.
struct Condition: Sendable, Hashable {
    /// The variable's index among the plan's switches.
    var variable: Int
    var expected: Bool
}

/// A field's arguments: ready, or waiting for variables.
enum ArgumentPlan: Sendable {
    case ready(Arguments)
    case waiting([ArgumentNode])
}

/// The lists and non-null marks of a type.
struct TypeShape: Sendable {
    /// Whether each level is non-null, the outermost first; all levels but the last are lists.
    let nonNull: [Bool]
    let isNonNull: Bool
    let isList: Bool

    init(_ type: TypeReference) {
        var levels: [Bool] = []
        var rest: TypeReference? = type
        while let level = rest {
            levels.append(level.isNonNull)
            rest = level.element
        }
        nonNull = levels
        isNonNull = type.isNonNull
        isList = type.isList
    }
}

/// What values of a leaf type may be.
enum LeafKind: Sendable {
    case builtIn(BuiltInScalar)
    case enumeration(String, [String])
    case custom(String)

    init(_ type: Schema.NamedType) {
        if type.kind == .enumeration {
            self = .enumeration(type.name, type.enumValues.map(\.name))
        } else if let scalar = type.builtInScalar {
            self = .builtIn(scalar)
        } else {
            self = .custom(type.name)
        }
    }
}
