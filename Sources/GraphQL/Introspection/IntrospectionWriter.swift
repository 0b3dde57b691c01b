import JSON

/// Answers `__schema` and `__type` from the schema (GraphQL §4.2).
struct IntrospectionWriter {
    let request: PreparedRequest

    /// What a selection of the introspection system is made on.
    enum Node {
        case schema
        case type(TypeReference)
        case field(Schema.Field)
        case inputValue(Schema.InputValue)
        case enumValue(Schema.EnumValue)
        case directive(DirectiveDefinition)
    }

    /// What a field of such a node has.
    enum Answer {
        case json(JSONValue)
        case node(Node)
        case nodes([Node])

        /// Text, or null.
        static func text(_ text: String?) -> Answer { .json(text.map(JSONValue.string) ?? .null) }
    }

    var schema: Schema { request.tree.schema }

    /// Writes the value of a root field of the introspection system.
    func write(_ field: PlannedField, to writer: inout JSONWriter) throws(GraphQLError) {
        switch field.kind {
        case .introspectSchema(let selection): try write(.schema, selection, to: &writer)
        case .introspectType(let selection):
            let name = try request.arguments(of: field)["name"]?.stringValue ?? ""
            guard schema.type(named: name) != nil else { return writer.null() }
            try write(.type(.named(name)), selection, to: &writer)
        default: writer.null()
        }
    }

    private func write(_ node: Node, _ selection: Int, to writer: inout JSONWriter) throws(GraphQLError) {
        writer.byte(UInt8(ascii: "{"))
        for (index, field) in request.fields[selection].enumerated() {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            writer.raw(bytes: field.keyBytes)
            if case .typename = field.kind {
                writer.string(request.tree.selections[selection].type.name)
                continue
            }
            try write(answer(node, field.field.name, try request.arguments(of: field)), of: field, to: &writer)
        }
        writer.byte(UInt8(ascii: "}"))
    }

    private func write(_ answer: Answer, of field: PlannedField, to writer: inout JSONWriter) throws(GraphQLError) {
        switch (answer, field.kind) {
        case (.json(let value), _): writer.value(value)
        case (.node(let node), .object(let selection)): try write(node, selection, to: &writer)
        case (.nodes(let nodes), .object(let selection)):
            writer.byte(UInt8(ascii: "["))
            for (index, node) in nodes.enumerated() {
                if index > 0 { writer.byte(UInt8(ascii: ",")) }
                try write(node, selection, to: &writer)
            }
            writer.byte(UInt8(ascii: "]"))
        default: writer.null()
        }
    }

    private func answer(_ node: Node, _ field: String, _ arguments: Arguments) -> Answer {
        let showsDeprecated = arguments["includeDeprecated"]?.boolValue ?? false
        switch node {
        case .schema: return schemaAnswer(field)
        case .type(let type): return typeAnswer(type, field, showsDeprecated)
        case .field(let value): return fieldAnswer(value, field, showsDeprecated)
        case .inputValue(let value): return inputValueAnswer(value, field)
        case .enumValue(let value): return enumValueAnswer(value, field)
        case .directive(let value): return directiveAnswer(value, field, showsDeprecated)
        }
    }
}
