/// What a resolver is told about the field it resolves.
public struct FieldInvocation<Context: Sendable>: Sendable {
    /// The name of the object type the field belongs to.
    public let parentType: String
    /// The field's name in the schema.
    public let fieldName: String
    /// The field's name in the response.
    public let responseKey: String
    /// The field's coerced arguments.
    public let arguments: Arguments
    /// The request's own value.
    public let context: Context
    /// What is selected below the field.
    public let selection: SelectedFields
    /// What the operation does.
    public let operationKind: OperationKind
}
