public import JSON

/// What a resolver gives for one parent.
public enum ResolvedValue<Object: Sendable>: Sendable {
    /// Nothing.
    case null
    /// The value of a leaf, or of lists of leaves.
    case leaf(JSONValue)
    /// An object whose fields are resolved next.
    case object(Object)
    /// Objects in order, taken as they are: a list of many without a look at each.
    case objects([Object])
    /// Values in order.
    case list([ResolvedValue<Object>])
    /// An error in this one's place; the engine adds locations and path.
    indirect case failure(GraphQLError)
}
