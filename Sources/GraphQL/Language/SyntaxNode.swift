/// One node of a syntax tree: 24 bytes, no references.
///
/// Nodes stand in the order in which they begin in the source, so a node's first child follows it,
/// and its next sibling follows its whole subtree.
struct SyntaxNode: Sendable {
    var kind: Kind
    var flags: Flags
    /// The first byte, that of the description where there is one.
    var start: UInt32
    /// The byte after the last.
    var end: UInt32
    /// The number of the node after the subtree.
    var next: UInt32
    /// The node's name, digits, or what stands between its quotes; no bytes where it has none.
    var textStart: UInt32
    var textLength: UInt32

    /// What a node is, by the grammar's productions.
    ///
    /// Names are the text of what they name, aliases the start of their field, and a non-null
    /// mark is a flag of its type.
    enum Kind: UInt8, Sendable {
        case document
        /// Of a definition; the first child.
        case description
        // Executable definitions
        case operation, variableDefinition, selectionSet, field, fragmentSpread, inlineFragment, fragmentDefinition
        case argument, directive
        // Values
        case variable, int, float, string, boolean, null, enumeration, list, object, objectField
        // Types
        case namedType, listType
        // Definitions of the type system
        case schema, scalarType, objectType, interfaceType, unionType, enumType, inputObjectType, directiveDefinition
        case rootType, fieldDefinition, inputValueDefinition, enumValueDefinition, directiveLocation
    }

    /// What else is to be known; bits are used again by kinds that cannot meet.
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8

        /// Of a field: an alias stands before the name.
        static let isAliased = Flags(rawValue: 1)
        /// Of a string: triple quotes.
        static let isBlock = Flags(rawValue: 1)
        /// Of a string: it must be unescaped.
        static let hasEscapes = Flags(rawValue: 2)
        /// Of a boolean.
        static let isTrue = Flags(rawValue: 1)
        /// Of a type: `!` follows.
        static let isNonNull = Flags(rawValue: 1)
        /// Of a type system definition: `extend` stands before it.
        static let isExtension = Flags(rawValue: 1)
        /// Of a directive definition.
        static let isRepeatable = Flags(rawValue: 1)

        /// Of an operation, or of a line of a schema definition.
        init(_ kind: OperationKind) {
            switch kind {
            case .query: self.init(rawValue: 0)
            case .mutation: self.init(rawValue: 1)
            case .subscription: self.init(rawValue: 2)
            }
        }

        /// Of one of a directive definition's locations.
        init(_ location: DirectiveLocation) {
            let index = DirectiveLocation.allCases.firstIndex(of: location) ?? 0
            self.init(rawValue: UInt8(index))
        }

        init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        var operationKind: OperationKind {
            switch rawValue {
            case 1: .mutation
            case 2: .subscription
            default: .query
            }
        }

        var directiveLocation: DirectiveLocation { DirectiveLocation.allCases[Int(rawValue)] }
    }
}
