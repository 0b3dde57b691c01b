/// All nodes of a document in two allocations: the nodes, and the source that names and values are
/// slices of.
struct SyntaxTree: Sendable {
    let source: [UInt8]
    let nodes: [SyntaxNode]

    /// A document without definitions; the parser never makes one.
    static let empty = SyntaxTree(
        source: [0x20],
        nodes: [SyntaxNode(kind: .document, flags: [], start: 0, end: 0, next: 1, textStart: 0, textLength: 0)]
    )

    /// Reads the tree from its root on; the node must not leave the closure.
    func withRoot<Result, Failure: Error>(
        _ read: (NodeView) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try source.withUnsafeBufferPointer { (bytes) throws(Failure) -> Result in
            try nodes.withUnsafeBufferPointer { (nodes) throws(Failure) -> Result in
                // The parser made a root of at least one byte; the empty tree has
                // its root and one byte, too.
                guard let base = nodes.baseAddress, let source = bytes.baseAddress else {
                    preconditionFailure("A syntax tree has no node.")
                }
                return try read(NodeView(nodes: base, source: source, index: 0))
            }
        }
    }
}
