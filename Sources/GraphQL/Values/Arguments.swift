// Arguments, variables and extensions are JSON values, so `import GraphQL` alone must show their
// members. The attribute has no other spelling yet.
@_exported public import JSON

/// The coerced arguments of a field: defaults applied, enum values as strings, input
/// objects in their type's order.
public struct Arguments: Sendable, Hashable {
    /// All arguments that have a value.
    public let object: JSONObject

    /// Arguments with these values.
    public init(_ object: JSONObject = [:]) {
        self.object = object
    }

    /// The value of an argument: `nil` when it was not given, `.null` when it was given as null.
    public subscript(name: String) -> JSONValue? { object[name] }
}

/// GraphQL §6.4.1 CoerceArgumentValues.
func coerceArgumentValues(
    _ definitions: [Schema.InputValue],
    _ nodes: [ArgumentNode],
    schema: Schema,
    variables: JSONObject
) throws(GraphQLError) -> Arguments {
    var result = JSONObject()
    let coercion = LiteralCoercion(schema: schema, variables: variables)
    result.reserveCapacity(nodes.count)
    // By index, because a copy of a definition retains all its texts.
    for index in definitions.indices {
        let (name, type) = (definitions[index].name, definitions[index].type)
        guard let node = nodes.first(where: { $0.name == name }), !coercion.isAbsent(node.value) else {
            if let value = definitions[index].defaultValue {
                result[name] = LiteralCoercion(schema: schema).coerce(value, to: type)
            } else if type.isNonNull {
                throw missing(definitions[index], nodes)
            }
            continue
        }
        if let value = coercion.coerce(node.value, to: type) {
            result.append(name, value)
        } else if case .variable = node.value.kind {
            let message = "Argument \"\(name)\" of non-null type \"\(type)\" must not be null."
            throw GraphQLError(message, locations: [node.value.location])
        } else {
            let message = "Argument \"\(name)\" has invalid value \(printValue(node.value))."
            throw GraphQLError(message, locations: [node.value.location])
        }
    }
    return Arguments(result)
}

private func missing(_ definition: Schema.InputValue, _ nodes: [ArgumentNode]) -> GraphQLError {
    let start = "Argument \"\(definition.name)\" of required type \"\(definition.type)\""
    guard let node = nodes.first(where: { $0.name == definition.name }), case .variable(let name) = node.value.kind
    else {
        return GraphQLError("\(start) was not provided.")
    }
    return GraphQLError(
        "\(start) was provided the variable \"$\(name)\" which was not provided a runtime value.",
        locations: [node.value.location]
    )
}
