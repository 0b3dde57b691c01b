/// What a document uses, found in one walk with the types in hand, so that each
/// rule is a loop over a list.
struct DocumentFacts {
    /// An operation or a fragment, with what it uses: parts of the lists below.
    struct Definition {
        var node: NodeView
        var spreads = 0..<0
        var variables = 0..<0
        /// The number of the first fragment of the same name, which spreads of the name mean.
        var namesake = 0
    }

    /// A selected field.
    struct FieldUse {
        var node: NodeView
        var parent: TypeNumber?
        var definition: FieldNumber?
        /// Its own selection set, if it has one.
        var selectionSet: NodeView?
    }

    struct SpreadUse {
        var node: NodeView
        var parent: TypeNumber?
        /// The fragment's number among the definitions, if there is one of the name.
        var fragment: Int?
    }

    struct InlineUse {
        var node: NodeView
        var parent: TypeNumber?
        var type: TypeNumber?
    }

    struct DirectiveUse {
        var node: NodeView
        var definition: DirectiveNumber?
        var location: DirectiveLocation
    }

    /// The arguments given to a field or directive that takes or has some.
    struct ArgumentListUse {
        enum Target {
            case field(FieldNumber)
            case directive(DirectiveNumber)
        }
        /// The field or directive.
        var node: NodeView
        var target: Target?
        /// The arguments it may have.
        var definitions: Range<Int32>
    }

    /// A value where an argument stands.
    struct ValueUse {
        var node: NodeView
        var type: ReferenceNumber
    }

    struct VariableUse {
        var node: NodeView
        /// The type its location expects, if the location is known.
        var type: ReferenceNumber?
        /// Whether a list stands here in the place of one item, whose type need not be non-null.
        var isNullable = false
        /// Whether the location has a default value of its own.
        var hasDefault: Bool
        /// The OneOf input object whose field it is given to.
        var oneOf: TypeNumber?
    }

    /// The operations and fragments.
    var definitions: [Definition] = []
    /// The numbers of the operations among the definitions.
    var operations: [Int] = []
    /// The numbers of the fragments among the definitions.
    var fragments: [Int] = []
    var fields: [FieldUse] = []
    var spreads: [SpreadUse] = []
    /// The number of a field's or spread's use, by the number of its node.
    var usesByNode: [Int32] = []
    var inlineFragments: [InlineUse] = []
    /// The directives of each location that has some: parts of the list below.
    var directiveLists: [Range<Int>] = []
    var directives: [DirectiveUse] = []
    var argumentLists: [ArgumentListUse] = []
    var values: [ValueUse] = []
    /// The default values of variables, each with the node of its type.
    var defaults: [(value: NodeView, type: NodeView)] = []
    var objects: [NodeView] = []
    var variables: [VariableUse] = []

    /// What is known of a field's node.
    func field(_ node: NodeView) -> FieldUse { fields[Int(usesByNode[node.index])] }

    /// The number of the fragment that a spread's node names.
    func fragment(_ node: NodeView) -> Int? { spreads[Int(usesByNode[node.index])].fragment }
}
