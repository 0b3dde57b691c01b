/// The bytes a node was read from.
///
/// Nodes do not carry their spans, because only tools ask for them: the parser records them on demand in the order in
/// which nodes end, children before their parents, and whoever walks the document in that order has each at hand.
struct SourceSpan: Sendable {
    /// The first byte.
    var start: Int
    /// The byte after the last.
    var end: Int
}
