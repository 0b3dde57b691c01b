package import GraphQL
package import TocsinCore

/// The executable API: models read from the model file, expanded, with Tocsin's own part added.
package struct APISchema: Sendable {
    /// The whole schema as the engine knows it.
    package let schema: Schema
    /// All models of the model file.
    package let models: [ModelType]
    /// The model `Topic`.
    package let topics: ModelType
    /// The model `Message`.
    package let messages: ModelType
    /// What each generated root field does, by coordinate (`Query.getTopic`).
    let operations: [String: ModelOperation]
    /// The types whose objects are kept inside records.
    let embedded: [EmbeddedType]
    /// The claims that rules of any model name.
    let claims: Set<String>
    /// Why the API of people and groups is left out; nil: it is there.
    package let peopleConflict: String?
    /// Whether the API of people and groups is there.
    var hasPeople: Bool { peopleConflict == nil }
    /// The shipped model `Integration`; nil: integrations are left out.
    package var integrations: ModelType? {
        incidentConflict == nil ? models.first { $0.name == "Integration" } : nil
    }
    /// The shipped model `Monitor`; nil: monitors are left out.
    package var monitors: ModelType? {
        incidentConflict == nil ? models.first { $0.name == "Monitor" } : nil
    }
    /// Why incidents are left out; nil: they are there.
    package let incidentConflict: String?
    /// Whether incidents are there.
    var hasIncidents: Bool { incidentConflict == nil }
    /// The shipped model `Incident`; nil: incidents are left out.
    package var incidents: ModelType? {
        incidentConflict == nil ? models.first { $0.name == ShippedModels.incident } : nil
    }
    /// The full SDL as clients see it.
    package let sdl: String

    /// Reads and expands; all problems are reported at once, with file and line.
    ///
    /// - Parameters:
    ///   - modelText: the model file; nil: the one embedded in the binary.
    ///   - modelFile: its name, for messages.
    ///   - isSharingAllowed: whether topics may be shared, as far as the rules speak of owners.
    package init(
        modelText: String? = nil,
        modelFile: String = "schema/model.graphql",
        isSharingAllowed: Bool = true
    ) throws(SchemaProblems) {
        let text = modelText ?? Self.embedded("model.graphql")
        let parts = try SchemaParts.reading(text, file: modelFile)
        let (declarations, enums, embedded) = parts.models
        let (extras, own) = (parts.extras, parts.own)
        self.embedded = embedded
        (peopleConflict, incidentConflict) = (parts.peopleConflict, parts.incidentConflict)
        let generated = Self.generatedSDL(declarations, enums: enums, embedded: embedded)
        do {
            schema = try Schema(sdl: generated + "\n" + own)
        } catch {
            throw SchemaProblems([SchemaProblem(file: modelFile, line: 1, message: "\(error)")])
        }
        models = declarations.map {
            ModelTypeFactory(declaration: $0, own: extras, isSharingAllowed: isSharingAllowed).make()
        }
        guard let topics = models.first(where: { $0.name == "Topic" }),
            let messages = models.first(where: { $0.name == "Message" })
        else {
            throw SchemaProblems([
                SchemaProblem(file: modelFile, line: 1, message: "Topic and Message must be declared.")
            ])
        }
        claims = models.reduce(into: []) { $0.formUnion($1.claims) }
        self.topics = topics
        self.messages = messages
        operations = ModelOperation.table(for: zip(models, declarations.map(\.operations)))
        sdl = schema.printed()
    }

    static func embedded(_ name: String) -> String {
        EmbeddedSchema.files.first { $0.name == name }?.text ?? ""
    }

    private static func generatedSDL(
        _ models: [ModelDeclaration],
        enums: [EnumTypeDefinition],
        embedded: [EmbeddedType]
    ) -> String {
        let expansions = models.map { SchemaExpansion(model: $0, models: models) }
        func root(_ name: String, _ fields: [String]) -> String {
            "type \(name) {\n\(fields.joined(separator: "\n"))\n}"
        }
        let values = enums.map { "enum \($0.name) { \($0.values.map(\.name).joined(separator: " ")) }" }
        let ofModels =
            expansions.map(\.types) + embedded.map(\.types) + [
                root("Query", expansions.flatMap(\.queryFields)),
                root("Mutation", expansions.flatMap(\.mutationFields)),
                root("Subscription", expansions.flatMap(\.subscriptionFields)),
            ]
        let text = ofModels.joined(separator: "\n")
        let keys = OperatorTypes.keyConditions(usedIn: text)
        // Only enums that models filter by have operators.
        let filtered = Set(models.flatMap(\.valueFields).filter(\.isEnum).map(\.namedType))
        let filters = enums.map(\.name).filter(filtered.contains)
            .map { OperatorTypes.filters(ofEnum: $0, usedIn: text) }
        let isSized = (models.flatMap(\.fields) + embedded.flatMap(\.fields)).contains { $0.assumedSize != nil }
        let sizes = isSized ? ["directive @listSize(assumedSize: Int!) on FIELD_DEFINITION"] : []
        return (ofModels + values + filters + sizes + [OperatorTypes.sdl, keys]).joined(separator: "\n\n")
    }
}

/// What a generated root field does.
enum ModelOperation: Sendable {
    case get(ModelType)
    case list(ModelType)
    case sync(ModelType)
    case byIndex(ModelType, ModelIndex)
    case create(ModelType)
    case update(ModelType)
    case delete(ModelType)
    case onCreate(ModelType)
    case onUpdate(ModelType)
    case onDelete(ModelType)

    static func table(for models: some Sequence<(ModelType, OperationNames)>) -> [String: ModelOperation] {
        var table: [String: ModelOperation] = [:]
        for (model, names) in models {
            let queries: [(String?, ModelOperation)] = [
                (names.get, .get(model)), (names.list, .list(model)), (names.sync, .sync(model)),
            ]
            for (name, operation) in queries { if let name { table["Query.\(name)"] = operation } }
            for index in model.indexes {
                guard let queryField = index.queryField else { continue }
                table["Query.\(queryField)"] = .byIndex(model, index)
            }
            let mutations: [(String?, ModelOperation)] = [
                (names.create, .create(model)), (names.update, .update(model)), (names.delete, .delete(model)),
            ]
            for (name, operation) in mutations { if let name { table["Mutation.\(name)"] = operation } }
            for name in names.onCreate { table["Subscription.\(name)"] = .onCreate(model) }
            for name in names.onUpdate { table["Subscription.\(name)"] = .onUpdate(model) }
            for name in names.onDelete { table["Subscription.\(name)"] = .onDelete(model) }
        }
        return table
    }
}
