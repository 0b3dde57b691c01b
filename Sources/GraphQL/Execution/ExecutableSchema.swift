/// A schema and the resolvers of all its fields, checked against each other at start.
public struct ExecutableSchema<Object: Sendable, Context: Sendable>: Sendable {
    /// The schema to validate and plan against; it knows how custom scalars check what clients send.
    public var schema: Schema { core.schema }
    @usableFromInline let core: ExecutionCore

    /// Joins a schema and resolvers.
    ///
    /// Throws every coordinate that lacks a resolver or has one that does not fit.
    public init(schema: Schema, resolvers map: ResolverMap<Object, Context>) throws(SchemaBindingErrors) {
        var binding = ResolverBinding(schema: schema, map: map.erased)
        binding.bind()
        guard binding.problems.isEmpty else { throw SchemaBindingErrors(problems: binding.problems) }
        core = ExecutionCore(
            schema: schema.coercing(map.erased.coercions),
            bindings: Bindings(resolvers: binding.resolvers, erased: map.erased)
        )
    }
}

/// Why schema and resolvers do not fit together: every reason, by coordinate.
public struct SchemaBindingErrors: Error, Sendable, CustomStringConvertible {
    /// One sentence for each coordinate that is wrong.
    public let problems: [String]

    /// One line for each problem.
    public var description: String { problems.joined(separator: "\n") }
}
