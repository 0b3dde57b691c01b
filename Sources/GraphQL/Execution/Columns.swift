import JSON

/// A resolved value in its column: objects have become places in groups.
enum Cell: Sendable {
    case null
    case leaf(JSONValue)
    case object(group: Int, row: Int)
    case list([Cell])
    indirect case failure(GraphQLError)
}

/// Objects of one level that share a selection, and what their fields gave, column by column.
struct ObjectGroup<Object: Sendable>: Sendable {
    /// The number of the selection.
    let selection: Int
    var parents: [Object]
    /// By the field's place in the selection; `nil` for leaves, which are written straight from the parents.
    var columns: [[Cell]?]
}
