/// A schema as tables of numbers, for the passes that look at every node of a document.
///
/// Names are found by their bytes, and types and fields are numbers, so nothing is retained on the
/// way. Only an error asks the schema's objects, for its words.
final class SchemaIndex: Sendable {
    struct TypeEntry: Sendable {
        var kind: Schema.NamedType.Kind
        var isOneOf: Bool
        /// Which scalar it is, if it is one.
        var scalar: Scalar?
        /// The numbers of an input object's fields.
        var inputs: Range<Int32>

        var isLeaf: Bool { kind == .scalar || kind == .enumeration }
        var isInput: Bool { isLeaf || kind == .inputObject }
        var isComposite: Bool { !isInput }
    }

    /// The scalars of the specification, and all others.
    enum Scalar: Sendable {
        case int, float, string, boolean, id, custom

        init(_ name: String) {
            switch name {
            case "Int": self = .int
            case "Float": self = .float
            case "String": self = .string
            case "Boolean": self = .boolean
            case "ID": self = .id
            default: self = .custom
            }
        }
    }

    struct FieldEntry: Sendable {
        var type: ReferenceNumber
        /// The type inside all lists and marks; `nil` where the schema has none of the name.
        var namedType: TypeNumber?
        var isList: Bool
        /// Whether it belongs to a type of the introspection system.
        var isIntrospection: Bool
        /// How large a page is that does not say, by the position in `pageArguments`.
        var defaultPageSizes: [Int?]
        /// How many members the list is taken to have where nobody says.
        var assumedSize: Int?
        var arguments: Range<Int32>
    }

    struct InputEntry: Sendable {
        var type: ReferenceNumber
        var isRequired: Bool
        var hasDefault: Bool
    }

    struct DirectiveEntry: Sendable {
        /// A bit for each location.
        var locations: UInt32
        var isRepeatable: Bool
        var arguments: Range<Int32>
    }

    /// A type with lists and marks, unfolded by one list.
    struct ReferenceEntry: Sendable {
        var isNonNull: Bool
        /// The type of the elements, if this is a list.
        var element: ReferenceNumber?
        /// The type inside all lists, if the schema has it.
        var namedType: TypeNumber?
    }

    /// The arguments that say how large a page is; the first that has a value counts.
    static let pageArguments: [StaticString] = ["limit", "first", "last"]

    let types: [TypeEntry]
    let fields: [FieldEntry]
    let inputs: [InputEntry]
    let directives: [DirectiveEntry]
    let references: [ReferenceEntry]
    /// The references as errors write them.
    let writtenReferences: [TypeReference]
    /// The arguments and input fields as errors name them.
    let inputNames: [String]
    let fieldObjects: [Schema.Field]
    private let names: NameTable
    /// For each type a bit for each type its objects can be of.
    private let possible: [UInt64]
    private let wordsPerType: Int
    private let rootTypes: [TypeNumber?]

    init(_ builder: SchemaIndexBuilder) {
        types = builder.types
        fields = builder.fields
        inputs = builder.inputs
        directives = builder.directives
        references = builder.references
        writtenReferences = builder.writtenReferences
        inputNames = builder.inputNames
        fieldObjects = builder.fieldObjects
        names = builder.names
        possible = builder.possible
        wordsPerType = builder.wordsPerType
        rootTypes = builder.rootTypes
    }

    subscript(_ number: TypeNumber) -> TypeEntry { types[Int(number.value)] }
    subscript(_ number: FieldNumber) -> FieldEntry { fields[Int(number.value)] }
    subscript(_ number: InputNumber) -> InputEntry { inputs[Int(number.value)] }
    subscript(_ number: DirectiveNumber) -> DirectiveEntry { directives[Int(number.value)] }
    subscript(_ number: ReferenceNumber) -> ReferenceEntry { references[Int(number.value)] }
}

// Names.
extension SchemaIndex {
    /// The scopes of the table of names: types, directives, then a scope for
    /// each that has names inside.
    enum Scope {
        static let types = 0
        static let directives = 1

        static func members(of type: TypeNumber) -> Int { 2 + Int(type.value) * 3 }
        static func arguments(of field: FieldNumber) -> Int { 3 + Int(field.value) * 3 }
        static func arguments(of directive: DirectiveNumber) -> Int { 4 + Int(directive.value) * 3 }
    }

    func type(named name: NameSlice) -> TypeNumber? {
        names.find(name, in: Scope.types).map(TypeNumber.init)
    }

    /// The number of a type of the schema.
    func type(object: Schema.NamedType) -> TypeNumber? {
        var name = object.name
        return name.withUTF8 { bytes in
            bytes.baseAddress.flatMap { type(named: NameSlice(start: $0, length: bytes.count)) }
        }
    }

    func directive(named name: NameSlice) -> DirectiveNumber? {
        names.find(name, in: Scope.directives).map(DirectiveNumber.init)
    }

    /// The field of this name that may be selected from the type, the engine's own included.
    func field(named name: NameSlice, of type: TypeNumber) -> FieldNumber? {
        guard self[type].isComposite else { return nil }
        if let field = names.find(name, in: Scope.members(of: type)) { return FieldNumber(field) }
        guard name.hasPrefix("__") else { return nil }
        let own = fields.count - 3
        if name == "__typename" { return FieldNumber(own) }
        guard type == rootTypes[0] else { return nil }
        if name == "__schema" { return FieldNumber(own + 1) }
        return name == "__type" ? FieldNumber(own + 2) : nil
    }

    func inputField(named name: NameSlice, of type: TypeNumber) -> InputNumber? {
        guard self[type].kind == .inputObject else { return nil }
        return names.find(name, in: Scope.members(of: type)).map(InputNumber.init)
    }

    func hasEnumValue(_ name: NameSlice, _ type: TypeNumber) -> Bool {
        names.find(name, in: Scope.members(of: type)) != nil
    }

    func argument(named name: NameSlice, of field: FieldNumber) -> InputNumber? {
        names.find(name, in: Scope.arguments(of: field)).map(InputNumber.init)
    }

    func argument(named name: NameSlice, of directive: DirectiveNumber) -> InputNumber? {
        names.find(name, in: Scope.arguments(of: directive)).map(InputNumber.init)
    }

    func rootType(of kind: OperationKind) -> TypeNumber? {
        switch kind {
        case .query: rootTypes[0]
        case .mutation: rootTypes[1]
        case .subscription: rootTypes[2]
        }
    }
}

// Possible types.
extension SchemaIndex {
    /// Whether some object can be of both types (GraphQL §5.5.2.3).
    func overlap(_ left: TypeNumber, _ right: TypeNumber) -> Bool {
        if left == right { return true }
        let (first, second) = (Int(left.value) * wordsPerType, Int(right.value) * wordsPerType)
        for word in 0..<wordsPerType where possible[first + word] & possible[second + word] != 0 { return true }
        return false
    }

    /// Whether objects of a type can be of the other.
    func isPossible(_ object: TypeNumber, for type: TypeNumber) -> Bool {
        let bit = Int(object.value)
        return possible[Int(type.value) * wordsPerType + bit / 64] >> UInt64(bit % 64) & 1 == 1
    }
}
