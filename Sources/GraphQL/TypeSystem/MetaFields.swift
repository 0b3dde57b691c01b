/// The fields no type defines and the engine answers itself (GraphQL §4.1, §4.2).
enum MetaFields {
    /// `__typename`, of every composite type.
    static let typename = fields[0]
    /// `__schema`, of the query type.
    static let schema = fields[1]
    /// `__type(name:)`, of the query type.
    static let type = fields[2]

    /// Read once; the text has no error, as every test that plans an operation shows.
    private static let fields: [Schema.Field] = {
        let text = "type Query { __typename: String! __schema: __Schema! __type(name: String!): __Type }"
        guard case .objectType(let query)? = (try? parse(text))?.definitions.first else { return [] }
        return query.fields.enumerated().map { Schema.Field($1, parentName: "Query", index: -1 - $0) }
    }()
}
