extension Schema {
    /// A type with a name (GraphQL §3.4).
    ///
    /// A class, because every field, plan and error that speaks of a type shares the one there is.
    /// What a kind does not have is empty.
    public final class NamedType: Sendable {
        /// Its name.
        public let name: String
        /// What its author says about it.
        public let description: String?
        /// What kind of type it is.
        public let kind: Kind
        /// The fields of an object or interface type.
        public let fields: [Field]
        /// The interfaces an object or interface type implements.
        public let interfaces: [String]
        /// The members of a union.
        public let members: [String]
        /// The values of an enum type.
        public let enumValues: [EnumValue]
        /// The fields of an input object type.
        public let inputFields: [InputValue]
        /// Whether exactly one field of an input object must be given.
        public let isOneOf: Bool
        /// Where a scalar's rules are written.
        public let specifiedByURL: String?
        /// The directives applied to it and its extensions.
        public let directives: [Directive]
        /// Where it was defined.
        public let location: SourceLocation

        /// Which of the five built-in scalars it is.
        let builtInScalar: BuiltInScalar?
        private let fieldsByName: [String: Field]

        /// The kinds of types; the raw value is the introspection's word.
        public enum Kind: String, Sendable, Hashable {
            /// A leaf without structure.
            case scalar = "SCALAR"
            /// Fields.
            case object = "OBJECT"
            /// Fields that several object types have.
            case interface = "INTERFACE"
            /// One of several object types.
            case union = "UNION"
            /// One of several names.
            case enumeration = "ENUM"
            /// Fields to send.
            case inputObject = "INPUT_OBJECT"

            /// Where directives of such types stand.
            var directiveLocation: DirectiveLocation {
                switch self {
                case .scalar: .scalar
                case .object: .object
                case .interface: .interface
                case .union: .union
                case .enumeration: .enumeration
                case .inputObject: .inputObject
                }
            }
        }

        /// The field of this name, of an object or interface type.
        public func field(named name: String) -> Field? { fieldsByName[name] }

        /// The field of this name, of an input object type.
        public func inputField(named name: String) -> InputValue? { inputFields.first { $0.name == name } }

        /// Whether values of this type have no fields to select.
        public var isLeaf: Bool { kind == .scalar || kind == .enumeration }
        /// Whether values of this type have fields to select.
        public var isComposite: Bool { kind == .object || isAbstract }
        /// Whether values of this type are objects of several types.
        public var isAbstract: Bool { kind == .interface || kind == .union }
        /// Whether it may be sent by clients.
        public var isInput: Bool { isLeaf || kind == .inputObject }
        /// Whether it belongs to the introspection system.
        public var isIntrospection: Bool { name.hasPrefix("__") }

        init(_ draft: TypeDraft, fields: [Field]) {
            name = draft.name
            description = draft.description
            kind = draft.kind
            builtInScalar = BuiltInScalar(rawValue: draft.name)
            self.fields = fields
            fieldsByName = Dictionary(fields.map { ($0.name, $0) }) { first, _ in first }
            interfaces = draft.interfaces
            members = draft.members
            enumValues = draft.values.map(EnumValue.init)
            inputFields = draft.inputFields.map(InputValue.init)
            directives = draft.directives
            isOneOf = directives.contains { $0.name == "oneOf" }
            specifiedByURL =
                directives.first { $0.name == "specifiedBy" }?.argument("url").flatMap(\.stringValue)
            location = draft.location
        }
    }
}
