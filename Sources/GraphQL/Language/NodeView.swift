/// A node of a syntax tree as the passes over a document see it: a few words on the
/// stack, nothing to retain.
struct NodeView {
    // It is unsafe because validation and planning read millions of nodes a second. It is valid
    // inside `withRoot` alone. Each step is safe there, because the parser promises that `next`
    // never leaves the tree.
    private let nodes: UnsafePointer<SyntaxNode>
    private let source: UnsafePointer<UInt8>
    /// The node's number, by which facts about it are kept.
    let index: Int

    init(nodes: UnsafePointer<SyntaxNode>, source: UnsafePointer<UInt8>, index: Int) {
        self.nodes = nodes
        self.source = source
        self.index = index
    }

    /// The source, which the root spans.
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: source, count: Int(nodes[0].end)) }
    var kind: SyntaxNode.Kind { nodes[index].kind }
    var flags: SyntaxNode.Flags { nodes[index].flags }
    /// The first byte.
    var start: Int { Int(nodes[index].start) }
    /// The byte after the last.
    var end: Int { Int(nodes[index].end) }
    /// The number of the node after the subtree.
    var next: Int { Int(nodes[index].next) }
    /// Where the name begins, or where it would.
    var textStart: Int { Int(nodes[index].textStart) }
    /// The name, or the digits, or what stands between quotes.
    var text: NameSlice { NameSlice(start: source + textStart, length: Int(nodes[index].textLength)) }
    /// The name as a string of its own.
    var name: String { text.string }

    /// Another node of the tree.
    subscript(index: Int) -> NodeView { NodeView(nodes: nodes, source: source, index: index) }
}

// The way down.
extension NodeView {
    /// The nodes directly below, in order.
    var children: Children { Children(parent: self) }

    /// The nodes directly below.
    struct Children: Sequence, IteratorProtocol {
        private var current: NodeView
        private let end: Int

        init(parent: NodeView) {
            current = parent[parent.index + 1]
            end = parent.next
        }

        mutating func next() -> NodeView? {
            guard current.index < end else { return nil }
            defer { current = current[current.next] }
            return current
        }
    }

    /// The nodes directly below of one kind, which stand side by side.
    func children(_ kind: SyntaxNode.Kind) -> [NodeView] {
        children.filter { $0.kind == kind }
    }

    /// The first node directly below of a kind.
    func first(_ kind: SyntaxNode.Kind) -> NodeView? {
        for child in children where child.kind == kind { return child }
        return nil
    }

    /// What is selected, of an operation, fragment or field.
    var selectionSet: NodeView? {
        // It stands last, but only the way there is known.
        first(.selectionSet)
    }

    /// The value, of an argument or of a field of an object value.
    var value: NodeView { self[index + 1] }

    /// The argument of this name, of a field or directive.
    func argument(_ name: StaticString) -> NodeView? {
        for child in children where child.kind == .argument && child.text == name { return child }
        return nil
    }
}

// What is not kept, because it is seldom asked for.
extension NodeView {
    /// The first byte after the description.
    var bodyStart: Int {
        guard index + 1 < next, self[index + 1].kind == .description else { return start }
        return bytes.endOfIgnored(from: self[index + 1].end)
    }

    /// The name a field has in the response.
    var responseKey: NameSlice { flags.contains(.isAliased) ? aliasText : text }

    /// The alias before a field's name.
    var alias: NameSlice? { flags.contains(.isAliased) ? aliasText : nil }

    private var aliasText: NameSlice {
        NameSlice(start: source + start, length: bytes.endOfName(from: start) - start)
    }

    /// Whether a value is a variable or has one inside; those that hold values come first,
    /// what they hold follows them.
    var containsVariable: Bool {
        for number in index..<next where self[number].kind == .variable { return true }
        return false
    }

    /// Whether the children of a type's node are lists or a name, as written.
    var isNonNull: Bool { flags.contains(.isNonNull) }

    /// The node of the name inside all lists of a type.
    var namedType: NodeView {
        var type = self
        while type.kind == .listType { type = type[type.index + 1] }
        return type
    }

    /// The decoded text of a string or description.
    var string: String {
        if flags.contains(.isBlock) { return StringDecoder.dedented(text.bytes) }
        return flags.contains(.hasEscapes) ? StringDecoder.unescaped(text.bytes) : name
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The first byte from here on of a token, or the end (GraphQL §2.1.7).
    func endOfIgnored(from start: Int) -> Int {
        var position = start
        while position < count {
            switch self[position] {
            case 0x20, 0x09, 0x0A, 0x0D, 0x2C: position += 1
            case UInt8(ascii: "#"):
                while position < count, self[position] != 0x0A, self[position] != 0x0D { position += 1 }
            case 0xEF, 0xBB, 0xBF: position += 1
            default: return position
            }
        }
        return position
    }
}
