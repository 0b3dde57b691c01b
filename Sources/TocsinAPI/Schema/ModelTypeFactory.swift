import GraphQL
import TocsinCore

/// What `schema/tocsin.graphql` adds to models: fields, and members of create inputs.
struct OwnFields {
    struct Field {
        var name: String
        var namedType: String
        var isRequired: Bool
    }

    /// By model name.
    var typeFields: [String: [Field]] = [:]
    /// By model name, from `extend input Create<Model>Input`.
    var inputFields: [String: [Field]] = [:]
    /// Types that are declared, not extended.
    var typeNames: Set<String> = []

    /// The fields that are added to a type.
    func names(of type: String) -> [String] { (typeFields[type] ?? []).map(\.name) }

    static func read(_ text: String) throws(SchemaProblems) -> OwnFields {
        let document: Document
        do {
            document = try parse(text, limits: .unlimited)
        } catch {
            let line = error.locations.first?.line ?? 1
            throw SchemaProblems([SchemaProblem(file: "schema/tocsin.graphql", line: line, message: error.message)])
        }
        var own = OwnFields()
        for definition in document.definitions {
            switch definition {
            case .objectTypeExtension(let type):
                own.typeFields[type.name, default: []] += type.fields.map {
                    Field(name: $0.name, namedType: $0.type.namedType, isRequired: $0.type.isNonNull)
                }
            case .inputObjectTypeExtension(let type):
                guard type.name.hasPrefix("Create"), type.name.hasSuffix("Input") else { continue }
                own.inputFields[String(type.name.dropFirst(6).dropLast(5)), default: []] += type.fields.map {
                    Field(name: $0.name, namedType: $0.type.namedType, isRequired: $0.type.isNonNull)
                }
            case .objectType(let type): own.typeNames.insert(type.name)
            case .inputObjectType(let type): own.typeNames.insert(type.name)
            case .enumType(let type): own.typeNames.insert(type.name)
            default: continue
            }
        }
        return own
    }
}

/// Makes the stored model of a declaration: declared fields, generated ones, and ours that have a column.
struct ModelTypeFactory {
    let declaration: ModelDeclaration
    let own: OwnFields

    func make() -> ModelType {
        let layout = ShippedTables.layout(of: declaration.name)
        var columns = layout.columns
        // The row is named by the joined key then, and an `id` is a field like others.
        if !declaration.hasSimpleKey { columns["id"] = nil }
        let operations = declaration.operations
        let timestamps = ModelType.Timestamps(
            created: operations.createdAt ?? "createdAt",
            updated: operations.updatedAt ?? "updatedAt"
        )
        let (created, updated) = (columns.removeValue(forKey: "createdAt"), columns.removeValue(forKey: "updatedAt"))
        columns[timestamps.created] = created
        columns[timestamps.updated] = updated
        var fields = declaration.valueFields.map { declared in
            var field = self.field(
                declared.name,
                declared.namedType,
                declared.isList,
                declared.isRequired,
                .declared,
                columns
            )
            field.defaultValue = declared.defaultValue
            if declared.isEmbedded { field.kind = .json }
            return field
        }
        let generated = [
            (timestamps.created, "AWSDateTime", true), (timestamps.updated, "AWSDateTime", true),
            ("_version", "Int", true), ("_deleted", "Boolean", false), ("_lastChangedAt", "AWSTimestamp", true),
            ("owner", "String", false),
            (ModelType.makingTime, "AWSTimestamp", true), (ModelType.revisionTime, "AWSTimestamp", false),
        ]
        let owners = declaration.implicitOwners.filter { $0 != "owner" }.map { ($0, "String", false) }
        for (name, type, isRequired) in generated + owners where !declaration.declares(name) {
            fields.append(field(name, type, false, isRequired, .generated, columns))
        }
        fields += ownFields(columns)
        if !declaration.hasSimpleKey {
            fields.append(field(ModelType.joinedKey, "ID", false, true, .generated, [ModelType.joinedKey: "id"]))
        }
        let ruled = declaration.valueFields.compactMap { field in field.rules.map { (field.name, $0) } }
        return ModelType(
            name: declaration.name,
            plural: declaration.plural,
            table: layout.table,
            fields: fields,
            indexes: declaration.indexes,
            relations: declaration.relations,
            rules: declaration.rules,
            fieldRules: Dictionary(ruled, uniquingKeysWith: { first, _ in first }),
            keyFields: declaration.keyFields,
            timestamps: timestamps
        )
    }

    /// Fields that our schema adds and the table has a column for; those in the create input are the client's.
    private func ownFields(_ columns: [String: String]) -> [ModelField] {
        let inputs = own.inputFields[declaration.name] ?? []
        let shown = own.typeFields[declaration.name] ?? []
        let inputNames = Set(inputs.map(\.name))
        let generated = shown.filter { columns[$0.name] != nil && !inputNames.contains($0.name) }
        let names = Set(shown.filter(\.isRequired).map(\.name))
        return generated.map { field($0.name, $0.namedType, false, $0.isRequired, .generated, columns) }
            + inputs.map { field($0.name, $0.namedType, false, names.contains($0.name), .declared, columns) }
    }

    private func field(
        _ name: String,
        _ typeName: String,
        _ isList: Bool,
        _ isRequired: Bool,
        _ role: ModelField.Role,
        _ columns: [String: String]
    ) -> ModelField {
        ModelField(
            name: name,
            typeName: typeName,
            kind: isList ? .json : Self.kind(of: typeName),
            isList: isList,
            isRequired: isRequired,
            storage: columns[name].map(ModelField.Storage.column) ?? .extra(name),
            role: role
        )
    }

    private static func kind(of typeName: String) -> ModelField.Kind {
        switch typeName {
        case "Int", "AWSTimestamp": .int
        case "Float": .double
        case "Boolean": .bool
        case "PushInput": .json
        default: .text
        }
    }
}
