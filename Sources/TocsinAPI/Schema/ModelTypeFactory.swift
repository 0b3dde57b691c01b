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

/// Makes the stored model of a declaration: declared fields, generated ones, and
/// ours that have a column.
struct ModelTypeFactory {
    private let declaration: ModelDeclaration
    private let own: OwnFields
    private let timestamps: ModelType.Timestamps
    /// Whether grants count at all.
    private let isSharingAllowed: Bool
    /// The columns that the model's table has of its own, by field.
    private let columns: [String: String]

    init(declaration: ModelDeclaration, own: OwnFields, isSharingAllowed: Bool = true) {
        self.declaration = declaration
        self.isSharingAllowed = isSharingAllowed
        self.own = own
        timestamps = ModelType.Timestamps(
            created: declaration.operations.createdAt ?? "createdAt",
            updated: declaration.operations.updatedAt ?? "updatedAt"
        )
        var columns = ShippedTables.layout(of: declaration.name, isShipped: declaration.isShipped).columns
        // The row is named by the joined key then, and an `id` is a field like others.
        if !declaration.hasSimpleKey { columns["id"] = nil }
        let (created, updated) = (columns.removeValue(forKey: "createdAt"), columns.removeValue(forKey: "updatedAt"))
        columns[timestamps.created] = created
        columns[timestamps.updated] = updated
        self.columns = columns
    }

    func make() -> ModelType {
        let ruled = declaration.valueFields.compactMap { field in field.rules.map { (field.name, $0) } }
        return ModelType(
            name: declaration.name,
            plural: declaration.plural,
            table: ShippedTables.layout(of: declaration.name, isShipped: declaration.isShipped).table,
            fields: declaredFields + generatedFields + ownFields + keyFields,
            indexes: declaration.indexes,
            relations: declaration.relations,
            rules: declaration.rules,
            fieldRules: Dictionary(ruled, uniquingKeysWith: { first, _ in first }),
            keyFields: declaration.keyFields,
            timestamps: timestamps,
            typeNames: declaration.typeNames.map(MessageTypeNames.init(declared:)) ?? .shipped,
            isSharingAllowed: isSharingAllowed,
            isShipped: declaration.isShipped
        )
    }

    private var declaredFields: [ModelField] {
        declaration.valueFields.map { declared in
            var field = self.field(declared.name, declared.namedType, isRequired: declared.isRequired, .declared)
            field.isList = declared.isList
            if declared.isList || declared.isEmbedded { field.kind = .json }
            field.defaultValue = declared.defaultValue
            return field
        }
    }

    private var generatedFields: [ModelField] {
        let generated = [
            (timestamps.created, "AWSDateTime", true), (timestamps.updated, "AWSDateTime", true),
            ("_version", "Int", true), ("_deleted", "Boolean", false), ("_lastChangedAt", "AWSTimestamp", true),
            ("owner", "String", false),
            (ModelType.makingTime, "AWSTimestamp", true), (ModelType.revisionTime, "AWSTimestamp", false),
        ]
        let owners = declaration.implicitOwners.filter { $0 != "owner" }.map { ($0, "String", false) }
        return (generated + owners).filter { !declaration.declares($0.0) }
            .map { name, type, isRequired in field(name, type, isRequired: isRequired, .generated) }
    }

    /// Fields that our schema adds and the table has a column for; those in the
    /// create input are the client's.
    private var ownFields: [ModelField] {
        let inputs = own.inputFields[declaration.name] ?? []
        let shown = own.typeFields[declaration.name] ?? []
        let inputNames = Set(inputs.map(\.name))
        let generated = shown.filter { columns[$0.name] != nil && !inputNames.contains($0.name) }
        let names = Set(shown.filter(\.isRequired).map(\.name))
        return generated.map { field($0.name, $0.namedType, isRequired: $0.isRequired, .generated) }
            + feedFields + inputs.map { field($0.name, $0.namedType, isRequired: names.contains($0.name), .declared) }
    }

    /// A message's position in its owner's feed, which only cursors show, and who published it.
    private var feedFields: [ModelField] {
        [(ModelType.feedPosition, "Int"), (ModelType.author, "ID")].filter { columns[$0.0] != nil }
            .map { field($0.0, $0.1, isRequired: false, .generated) }
    }

    /// The text that names a row where the key is not its `id` alone.
    private var keyFields: [ModelField] {
        if declaration.hasSimpleKey { return [] }
        var key = field(ModelType.joinedKey, "ID", isRequired: true, .generated)
        key.storage = .column("id")
        return [key]
    }

    private func field(_ name: String, _ typeName: String, isRequired: Bool, _ role: ModelField.Role) -> ModelField {
        ModelField(
            name: name,
            typeName: typeName,
            kind: Self.kind(of: typeName),
            isList: false,
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
