import JSON

/// Writes documents in the shape of graphql-js's tree; one function a node, its members in the order they are read.
///
/// Spans come in the order in which nodes end, so each node takes its own after its members, and `loc` stands last.
struct TreeWriter {
    private(set) var json: JSONWriter
    private let spans: [SourceSpan]
    private let offsets: UTF16Offsets
    private var next = 0

    init(spans: [SourceSpan], offsets: UTF16Offsets) {
        json = JSONWriter(capacity: 64 + spans.count * 64)
        self.spans = spans
        self.offsets = offsets
    }

    mutating func document(_ document: Document) {
        node("Document") { tree in
            tree.list("definitions", document.definitions) { tree, definition in tree.definition(definition) }
        }
    }

    private mutating func definition(_ definition: Definition) {
        switch definition {
        case .operation(let node): operation(node)
        case .fragment(let node): fragment(node)
        default: typeSystemDefinition(definition)
        }
    }

    private mutating func operation(_ operation: OperationDefinition) {
        node("OperationDefinition") { tree in
            tree.description(operation.description)
            tree.text("operation", operation.kind.rawValue)
            if let name = operation.name { tree.name(name) }
            tree.list("variableDefinitions", operation.variables) { tree, variable in tree.variable(variable) }
            tree.directives(operation.directives)
            tree.selectionSet(operation.selectionSet)
        }
    }

    private mutating func variable(_ variable: VariableDefinition) {
        node("VariableDefinition") { tree in
            tree.description(variable.description)
            tree.member("variable")
            tree.node("Variable") { tree in tree.name(variable.name) }
            tree.type(variable.type)
            tree.value(variable.defaultValue, as: "defaultValue")
            tree.directives(variable.directives)
        }
    }

    private mutating func selectionSet(_ set: SelectionSet) {
        member("selectionSet")
        node("SelectionSet") { tree in
            tree.list("selections", set.selections) { tree, selection in
                switch selection {
                case .field(let field): tree.field(field)
                case .fragmentSpread(let spread): tree.spread(spread)
                case .inlineFragment(let fragment): tree.inlineFragment(fragment)
                }
            }
        }
    }

    private mutating func field(_ field: Field) {
        node("Field") { tree in
            if let alias = field.alias { tree.name(alias, as: "alias") }
            tree.name(field.name)
            tree.arguments(field.arguments)
            tree.directives(field.directives)
            if let set = field.selectionSet { tree.selectionSet(set) }
        }
    }

    private mutating func spread(_ spread: FragmentSpread) {
        node("FragmentSpread") { tree in
            tree.name(spread.name)
            tree.directives(spread.directives)
        }
    }

    private mutating func inlineFragment(_ fragment: InlineFragment) {
        node("InlineFragment") { tree in
            if let type = fragment.typeCondition { tree.namedType(type, as: "typeCondition") }
            tree.directives(fragment.directives)
            tree.selectionSet(fragment.selectionSet)
        }
    }

    private mutating func fragment(_ fragment: FragmentDefinition) {
        node("FragmentDefinition") { tree in
            tree.description(fragment.description)
            tree.name(fragment.name)
            tree.namedType(fragment.typeCondition, as: "typeCondition")
            tree.directives(fragment.directives)
            tree.selectionSet(fragment.selectionSet)
        }
    }
}

// What the functions of all nodes rest on.
extension TreeWriter {
    mutating func node(_ kind: StaticString, _ members: (inout TreeWriter) -> Void) {
        json.raw("{\"kind\":\"")
        json.raw(kind)
        json.raw("\"")
        members(&self)
        let span = next < spans.count ? spans[next] : SourceSpan(start: 0, end: 0)
        next += 1
        json.raw(",\"loc\":{\"start\":")
        json.int(offsets[span.start])
        json.raw(",\"end\":")
        json.int(offsets[span.end])
        json.raw("}}")
    }

    mutating func member(_ name: StaticString) {
        json.raw(",\"")
        json.raw(name)
        json.raw("\":")
    }

    mutating func text(_ name: StaticString, _ text: String) {
        member(name)
        json.string(text)
    }

    mutating func flag(_ name: StaticString, _ flag: Bool) {
        member(name)
        json.bool(flag)
    }

    mutating func list<Node>(_ name: StaticString, _ nodes: [Node], _ write: (inout TreeWriter, Node) -> Void) {
        member(name)
        json.raw("[")
        for (index, node) in nodes.enumerated() {
            if index > 0 { json.raw(",") }
            write(&self, node)
        }
        json.raw("]")
    }

    mutating func nameNode(_ name: String) {
        node("Name") { tree in tree.text("value", name) }
    }

    mutating func name(_ name: String, as member: StaticString = "name") {
        self.member(member)
        nameNode(name)
    }
}
