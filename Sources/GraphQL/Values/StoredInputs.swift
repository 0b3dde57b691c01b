public import JSON

/// Coerces values that were kept as JSON to the input types of a schema, as if a request had
/// brought them (GraphQL §6.1.2).
public struct StoredInputs: Sendable {
    private let schema: Schema

    /// - Parameters:
    ///   - scalars: The names of the custom scalars that are checked.
    ///   - check: The value to keep of a scalar, by its name.
    public init(
        schema: Schema,
        scalars: [String],
        check: @escaping @Sendable (_ value: JSONValue, _ scalar: String) throws(CoercionError) -> JSONValue
    ) {
        var coercions: [String: ScalarCoercion] = [:]
        for scalar in scalars {
            let coercion: ScalarCoercion = { (value: JSONValue) throws(CoercionError) -> JSONValue in
                try check(value, scalar)
            }
            coercions[scalar] = coercion
        }
        self.schema = schema.coercing(coercions)
    }

    /// The coerced value of a type that must not be null; throws its first mistake, with its place
    /// below `name`.
    public func coerced(_ value: JSONValue, to type: String, named name: String) throws(CoercionError) -> JSONValue {
        var coercion = InputCoercion(schema: schema, maximumErrors: 1)
        if let coerced = coercion.coerce(value, to: .nonNull(.named(type))), coercion.problems.isEmpty {
            return coerced
        }
        let problem = coercion.problems.first
        let path = (problem?.path ?? []).reduce(name) { path, step in
            switch step {
            case .key(let key): path + ".\(key)"
            case .index(let index): path + "[\(index)]"
            }
        }
        throw CoercionError("\(path): \(problem?.message ?? "it cannot be read.")")
    }
}
