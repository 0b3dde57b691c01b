/// What a document uses, found in one walk with the types in hand, so that each rule is a loop over a list.
struct DocumentFacts {
    /// A selected field.
    struct FieldUse {
        var field: Field
        var parent: Schema.NamedType?
        var definition: Schema.Field?
        /// The number of its selection set, if it has one.
        var selection: Int?
    }

    /// What a selection set holds, by number.
    enum Item {
        case field(Int)
        case spread(Int)
        case inline(selection: Int, directives: [Directive])
    }

    struct SpreadUse {
        var spread: FragmentSpread
        var parent: Schema.NamedType?
        var owner: Int
    }

    struct InlineUse {
        var fragment: InlineFragment
        var parent: Schema.NamedType?
        var type: Schema.NamedType?
    }

    struct DirectiveListUse {
        var directives: [Directive]
        var location: DirectiveLocation
    }

    /// The arguments given to a field or directive.
    struct ArgumentListUse {
        enum Target {
            case field(Schema.Field)
            case directive(String)
        }
        var nodes: [ArgumentNode]
        var target: Target?
        var definitions: [Schema.InputValue]
        var location: SourceLocation
    }

    /// A value in the place of an argument, or of a variable's default.
    struct ValueUse {
        var value: Value
        var type: TypeReference
    }

    struct VariableUse {
        var name: String
        var location: SourceLocation
        /// The type its place expects, if the place is known.
        var type: TypeReference?
        /// Whether the place has a default value of its own.
        var hasDefault: Bool
        /// The name of the OneOf input object whose field it is given to.
        var oneOf: String?
        var owner: Int
    }

    var fields: [FieldUse] = []
    var selections: [[Item]] = []
    var spreads: [SpreadUse] = []
    var inlineFragments: [InlineUse] = []
    var directiveLists: [DirectiveListUse] = []
    var argumentLists: [ArgumentListUse] = []
    var values: [ValueUse] = []
    var objects: [[ObjectField]] = []
    var variables: [VariableUse] = []
    /// The number of the selection set of each definition that has one, by the definition's number.
    var roots: [Int: Int] = [:]
    /// The spreads of each fragment or operation, by the definition's number.
    var spreadsByOwner: [Int: [Int]] = [:]
    /// The variables of each fragment or operation, by the definition's number.
    var variablesByOwner: [Int: [Int]] = [:]
}
