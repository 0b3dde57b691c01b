public import JSON

/// What a resolver gives for one parent.
public indirect enum ResolvedValue<Object: Sendable>: Sendable {
    /// Nothing.
    case null
    /// The value of a leaf, or of lists of leaves.
    case leaf(JSONValue)
    /// An object whose fields are resolved next.
    case object(Object)
    /// Values in order.
    case list([ResolvedValue<Object>])
    /// An error in this one's place; the engine adds locations and path.
    case failure(GraphQLError)
}
