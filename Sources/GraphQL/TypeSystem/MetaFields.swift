/// The fields no type defines and the engine answers itself (GraphQL §4.1, §4.2).
enum MetaFields {
    /// `__typename`, of every composite type.
    static let typename = field("__typename", .nonNull(.named("String")), index: -1)
    /// `__schema`, of the query type.
    static let schema = field("__schema", .nonNull(.named("__Schema")), index: -2)
    /// `__type(name:)`, of the query type.
    static let type = field(
        "__type",
        .named("__Type"),
        index: -3,
        arguments: [
            InputValueDefinition(
                description: nil,
                name: "name",
                type: .nonNull(.named("String")),
                defaultValue: nil,
                directives: [],
                location: SourceLocation(line: 1, column: 1)
            )
        ]
    )

    private static func field(
        _ name: String,
        _ type: TypeReference,
        index: Int,
        arguments: [InputValueDefinition] = []
    ) -> Schema.Field {
        let node = FieldDefinition(
            description: nil,
            name: name,
            arguments: arguments,
            type: type,
            directives: [],
            location: SourceLocation(line: 1, column: 1)
        )
        return Schema.Field(node, parentName: "Query", index: index)
    }
}
