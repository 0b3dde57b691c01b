/// A schema and the resolvers of all its fields, checked against each other at start.
public struct ExecutableSchema<Object: Sendable, Context: Sendable>: Sendable {
    /// The schema to validate and plan against; it knows how custom scalars check what clients send.
    public let schema: Schema
    /// By the field's number.
    let resolvers: [ResolverMap<Object, Context>.Resolver?]
    let map: ResolverMap<Object, Context>
    /// By the field's number: what writes it, if it is a leaf; named without the types of the schema's values, because
    /// looking into a generic value costs more than most leaves.
    let leaves: [ErasedLeaf?]

    /// Joins a schema and resolvers.
    ///
    /// Throws every coordinate that lacks a resolver or has one that does not fit.
    public init(schema: Schema, resolvers map: ResolverMap<Object, Context>) throws(SchemaBindingErrors) {
        self.schema = schema.coercing(map.coercions)
        self.map = map
        var binding = ResolverBinding(schema: schema, map: map)
        binding.bind()
        guard binding.problems.isEmpty else { throw SchemaBindingErrors(problems: binding.problems) }
        resolvers = binding.resolvers
        leaves = binding.resolvers.map { if case .leaf(let write) = $0 { write } else { nil } }
    }
}

/// Why schema and resolvers do not fit together: every reason, by coordinate.
public struct SchemaBindingErrors: Error, Sendable, CustomStringConvertible {
    /// One sentence for each coordinate that is wrong.
    public let problems: [String]

    /// One line for each problem.
    public var description: String { problems.joined(separator: "\n") }
}
