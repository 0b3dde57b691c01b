import JSON

/// GraphQL §6.1.2 CoerceVariableValues: what clients sent, as the operation declared
/// it, or every mistake in it.
///
/// A variable that was not given and has no default has no member in the result.
func coerceVariableValues(
    _ definitions: [VariableDefinition],
    _ given: JSONObject,
    schema: Schema,
    maximumErrors: Int = 50,
    suggests: Bool = true
) -> (values: JSONObject, errors: [GraphQLError]) {
    var values = JSONObject()
    var errors: [GraphQLError] = []
    // By index, because a copy of a definition retains all its texts.
    for index in definitions.indices {
        guard errors.count < maximumErrors else {
            errors.append(GraphQLError("Too many errors processing variables, error limit reached. Execution aborted."))
            break
        }
        let (name, type) = (definitions[index].name, definitions[index].type)
        guard let value = given[name] else {
            if let literal = definitions[index].defaultValue {
                values[name] = LiteralCoercion(schema: schema).coerce(literal, to: type)
            } else if type.isNonNull {
                let message = "Variable \"$\(name)\" of required type \"\(type)\" was not provided."
                errors.append(GraphQLError(message, locations: [definitions[index].location]))
            }
            continue
        }
        if value.isNull, type.isNonNull {
            let message = "Variable \"$\(name)\" of non-null type \"\(type)\" must not be null."
            errors.append(GraphQLError(message, locations: [definitions[index].location]))
            continue
        }
        var coercion = InputCoercion(
            schema: schema,
            maximumErrors: maximumErrors - errors.count,
            suggestions: Suggestions(isOn: suggests)
        )
        if let value = coercion.coerce(value, to: type) { values.set(name, value) }
        errors += coercion.problems.map { problem in
            GraphQLError(describe(problem, of: name, value: value), locations: [definitions[index].location])
        }
    }
    return (values, errors)
}

/// `Variable "$input" got invalid value 3 at "input.list[1]"; …`, as graphql-js words it.
private func describe(_ problem: InputCoercion.Problem, of name: String, value: JSONValue) -> String {
    var path = name
    var invalid = value
    for step in problem.path {
        switch step {
        case .key(let key):
            path += ".\(key)"
            invalid = invalid[key] ?? .null
        case .index(let index):
            path += "[\(index)]"
            invalid = invalid[index] ?? .null
        }
    }
    let position = problem.path.isEmpty ? "" : " at \"\(path)\""
    return "Variable \"$\(name)\" got invalid value \(BuiltInScalar.text(invalid))\(position); \(problem.message)"
}
