/// The locations where a directive may stand (GraphQL §3.13).
public enum DirectiveLocation: String, Sendable, Hashable, CaseIterable {
    /// On queries.
    case query = "QUERY"
    /// On mutations.
    case mutation = "MUTATION"
    /// On subscriptions.
    case subscription = "SUBSCRIPTION"
    /// On fields.
    case field = "FIELD"
    /// On fragment definitions.
    case fragmentDefinition = "FRAGMENT_DEFINITION"
    /// On fragment spreads.
    case fragmentSpread = "FRAGMENT_SPREAD"
    /// On inline fragments.
    case inlineFragment = "INLINE_FRAGMENT"
    /// On variable definitions.
    case variableDefinition = "VARIABLE_DEFINITION"
    /// On schemas.
    case schema = "SCHEMA"
    /// On scalars.
    case scalar = "SCALAR"
    /// On objects.
    case object = "OBJECT"
    /// On field definitions.
    case fieldDefinition = "FIELD_DEFINITION"
    /// On argument definitions.
    case argumentDefinition = "ARGUMENT_DEFINITION"
    /// On interfaces.
    case interface = "INTERFACE"
    /// On unions.
    case union = "UNION"
    /// On enum types.
    case enumeration = "ENUM"
    /// On enum values.
    case enumValue = "ENUM_VALUE"
    /// On input objects.
    case inputObject = "INPUT_OBJECT"
    /// On input field definitions.
    case inputFieldDefinition = "INPUT_FIELD_DEFINITION"
}
