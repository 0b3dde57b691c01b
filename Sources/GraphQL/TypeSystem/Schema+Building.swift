extension Schema {
    /// The schema written in these SDL texts together; a text may extend what another defines.
    public convenience init(
        sdl: String...,
        limits: ParseLimits = .unlimited
    ) throws(SchemaErrors) {
        var documents: [Document] = []
        for text in sdl {
            do throws(SyntaxError) {
                documents.append(try parse(text, limits: limits))
            } catch {
                throw SchemaErrors(errors: [GraphQLError(error)])
            }
        }
        try self.init(documents: documents)
    }

    /// The schema these documents define together.
    ///
    /// Throws every mistake found, not only the first.
    public convenience init(documents: [Document]) throws(SchemaErrors) {
        let definitions = documents.flatMap(\.definitions)
        var definitionRules = SDLValidator(definitions)
        definitionRules.validate()
        let draft = SchemaDraft(definitions)
        let types = Self.types(of: draft)
        let root = draft.rootTypeName(.query).flatMap { name in types.first { $0.name == name } }
        // Without a type for queries any other stands in, so that everything
        // else can be checked too.
        guard let queryType = root ?? types.first else { throw SchemaErrors(errors: definitionRules.errors) }
        let fieldCount = types.reduce(0) { $0 + $1.fields.count }
        self.init(parts: Parts(draft, types: types, queryType: queryType, fieldCount: fieldCount))
        var typeRules = SchemaValidator(schema: self)
        typeRules.validate()
        let errors = definitionRules.errors + typeRules.errors
        guard errors.isEmpty else { throw SchemaErrors(errors: errors) }
    }

    private static func types(of draft: SchemaDraft) -> [NamedType] {
        var fieldCount = 0
        return draft.types.map { type in
            let fields = type.fields.enumerated().map { offset, node in
                Field(node, parentName: type.name, index: fieldCount + offset)
            }
            fieldCount += fields.count
            return NamedType(type, fields: fields)
        }
    }
}
