import JSON

/// The document as JSON in the shape of graphql-js's tree: every node with its `kind` and its
/// `loc`, whose `start` and `end` count UTF-16 code units.
///
/// For tools that compare or show documents. Optional members that were not written are left out.
/// Lists are there even when they are empty. Numbers are texts, as they were written.
public func syntaxTree(of source: [UInt8], limits: ParseLimits = .standard) throws(SyntaxError) -> [UInt8] {
    let tree = try Parser.parse(checking: source, limits: limits)
    return tree.withRoot { root in
        var writer = TreeWriter(nodes: tree.nodes.count, offsets: UTF16Offsets(source))
        writer.document(root)
        return writer.json.bytes
    }
}

/// The offset of each byte of a text, counted in UTF-16 code units.
struct UTF16Offsets {
    /// By byte; empty when the text is ASCII and each byte is one unit.
    private var units: [UInt32] = []

    init(_ source: [UInt8]) {
        guard source.contains(where: { $0 >= 0x80 }) else { return }
        units.reserveCapacity(source.count + 1)
        var count: UInt32 = 0
        for byte in source {
            units.append(count)
            if byte & 0xC0 != 0x80 { count += byte >= 0xF0 ? 2 : 1 }
        }
        units.append(count)
    }

    subscript(byte: Int) -> Int64 {
        units.isEmpty ? Int64(byte) : Int64(units[min(byte, units.count - 1)])
    }
}

/// Writes a document in the shape of graphql-js's tree.
///
/// Each kind of node has one function, which writes the members in the order they were read.
struct TreeWriter {
    private(set) var json: JSONWriter
    private let offsets: UTF16Offsets

    init(nodes: Int, offsets: UTF16Offsets) {
        json = JSONWriter(capacity: 64 + nodes * 128)
        self.offsets = offsets
    }

    mutating func document(_ document: NodeView) {
        node("Document", document) { tree in
            tree.list("definitions", document.children.map { $0 }) { tree, definition in tree.definition(definition) }
        }
    }

    private mutating func definition(_ definition: NodeView) {
        switch definition.kind {
        case .operation: operation(definition)
        case .fragmentDefinition: fragment(definition)
        default: typeSystemDefinition(definition)
        }
    }

    private mutating func operation(_ operation: NodeView) {
        node("OperationDefinition", operation) { tree in
            tree.description(operation)
            tree.text("operation", operation.flags.operationKind.rawValue)
            if !operation.text.isEmpty { tree.name(operation) }
            tree.list("variableDefinitions", operation.children(.variableDefinition)) { tree, variable in
                tree.variable(variable)
            }
            tree.directives(operation)
            tree.selectionSet(operation)
        }
    }

    private mutating func variable(_ variable: NodeView) {
        node("VariableDefinition", variable) { tree in
            tree.description(variable)
            tree.member("variable")
            tree.node("Variable", from: variable.bodyStart, to: variable.textStart + variable.text.length) {
                tree in
                tree.name(variable)
            }
            tree.type(variable)
            tree.defaultValue(variable)
            tree.directives(variable)
        }
    }

    private mutating func selectionSet(_ parent: NodeView) {
        guard let set = parent.selectionSet else { return }
        member("selectionSet")
        node("SelectionSet", set) { tree in
            tree.list("selections", set.children.map { $0 }) { tree, selection in
                switch selection.kind {
                case .field: tree.field(selection)
                case .fragmentSpread: tree.spread(selection)
                default: tree.inlineFragment(selection)
                }
            }
        }
    }

    private mutating func field(_ field: NodeView) {
        node("Field", field) { tree in
            if let alias = field.alias {
                tree.member("alias")
                tree.nameNode(alias, at: field.start)
            }
            tree.name(field)
            tree.arguments(field)
            tree.directives(field)
            tree.selectionSet(field)
        }
    }

    private mutating func spread(_ spread: NodeView) {
        node("FragmentSpread", spread) { tree in
            tree.name(spread)
            tree.directives(spread)
        }
    }

    private mutating func inlineFragment(_ fragment: NodeView) {
        node("InlineFragment", fragment) { tree in
            if !fragment.text.isEmpty { tree.namedType(fragment, as: "typeCondition") }
            tree.directives(fragment)
            tree.selectionSet(fragment)
        }
    }

    private mutating func fragment(_ fragment: NodeView) {
        node("FragmentDefinition", fragment) { tree in
            tree.description(fragment)
            tree.name(fragment)
            tree.namedType(fragment.typeNode, as: "typeCondition")
            tree.directives(fragment)
            tree.selectionSet(fragment)
        }
    }
}

// What the functions of all nodes rest on.
extension TreeWriter {
    mutating func node(_ kind: StaticString, _ node: NodeView, _ members: (inout TreeWriter) -> Void) {
        self.node(kind, from: node.start, to: node.end, members)
    }

    mutating func node(
        _ kind: StaticString,
        from start: Int,
        to end: Int,
        _ members: (inout TreeWriter) -> Void
    ) {
        json.raw("{\"kind\":\"")
        json.raw(kind)
        json.raw("\"")
        members(&self)
        json.raw(",\"loc\":{\"start\":")
        json.int(offsets[start])
        json.raw(",\"end\":")
        json.int(offsets[end])
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

    mutating func list(_ name: StaticString, _ nodes: [NodeView], _ write: (inout TreeWriter, NodeView) -> Void) {
        member(name)
        json.raw("[")
        for (index, node) in nodes.enumerated() {
            if index > 0 { json.raw(",") }
            write(&self, node)
        }
        json.raw("]")
    }

    /// Writes the node of a name that is no node of its own in `SyntaxTree`.
    mutating func nameNode(_ name: NameSlice, at start: Int) {
        node("Name", from: start, to: start + name.length) { tree in tree.text("value", name.string) }
    }

    /// Writes the name of a node as its member `name`.
    mutating func name(_ node: NodeView) {
        member("name")
        nameNode(node.text, at: node.textStart)
    }
}
