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
        let draft = SchemaDraft(documents: documents)
        guard draft.errors.isEmpty else { throw SchemaErrors(errors: draft.errors) }
        var fieldCount = 0
        let types = draft.types.map { type in
            let fields = type.fields.enumerated().map { offset, node in
                Field(node, parentName: type.name, index: fieldCount + offset)
            }
            fieldCount += fields.count
            return NamedType(type, fields: fields)
        }
        guard let name = draft.rootTypeName(.query), let queryType = types.first(where: { $0.name == name }) else {
            throw SchemaErrors(errors: [GraphQLError("Query root type must be provided.")])
        }
        let parts = Parts(draft, types: types, queryType: queryType, fieldCount: fieldCount)
        self.init(parts: parts)
        var validator = SchemaValidator(schema: self)
        validator.validate()
        guard validator.errors.isEmpty else { throw SchemaErrors(errors: validator.errors) }
    }
}
