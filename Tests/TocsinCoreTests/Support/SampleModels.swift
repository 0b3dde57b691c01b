import TocsinCore

extension ModelField {
    /// A field that clients write.
    static func declared(
        _ name: String,
        _ kind: Kind = .text,
        isList: Bool = false,
        isRequired: Bool = false,
        defaultValue: FieldValue? = nil
    ) -> ModelField {
        ModelField(
            name: name,
            typeName: "String",
            kind: isList ? .json : kind,
            isList: isList,
            isRequired: isRequired,
            storage: .extra(name),
            defaultValue: defaultValue
        )
    }

    /// A field that the server alone writes.
    static func generated(_ name: String, _ kind: Kind = .text) -> ModelField {
        ModelField(
            name: name,
            typeName: "String",
            kind: kind,
            isRequired: false,
            storage: .column(name),
            role: .generated
        )
    }
}

extension ModelType {
    /// A model of these fields.
    static func sample(
        _ fields: [ModelField],
        named name: String = "Note",
        rules: [AccessRule] = [],
        fieldRules: [String: [AccessRule]] = [:],
        keyFields: [String] = ["id"],
        indexes: [ModelIndex] = [],
        relations: [ModelRelation] = []
    ) -> ModelType {
        ModelType(
            name: name,
            plural: name + "s",
            table: ShippedTables.layout(of: name).table,
            fields: fields,
            indexes: indexes,
            relations: relations,
            rules: rules,
            fieldRules: fieldRules,
            keyFields: keyFields
        )
    }

    private static let upkeep: [ModelField] = [
        .generated("owner"), .generated("createdAt"), .generated("updatedAt"), .generated("_version", .int),
        .generated("_deleted", .bool), .generated("_lastChangedAt", .int), .generated(makingTime, .int),
        .generated(revisionTime, .int),
    ]

    /// Topics under these rules.
    static func topics(_ rules: [AccessRule]) -> ModelType {
        sample([.declared("id"), .declared("name")] + upkeep, named: "Topic", rules: rules)
    }

    /// Messages under these rules.
    static func messages(_ rules: [AccessRule], fieldRules: [String: [AccessRule]] = [:]) -> ModelType {
        let fields: [ModelField] =
            [
                .declared("id"), .declared("topicId"), .declared("title"), .declared("body"), .declared("key"),
                .declared("priority", .int), .declared("data", .json), .generated("number", .int),
                .generated(feedPosition, .int),
            ] + upkeep
        return sample(fields, named: "Message", rules: rules, fieldRules: fieldRules)
    }
}

extension Record {
    /// A record of these values and nulls.
    init(_ model: ModelType, _ values: KeyValuePairs<String, FieldValue>) {
        self.init(model: model)
        for (name, value) in values { self[name] = value }
    }
}

extension AccessDecision {
    /// Whether it allows the operation on this record.
    func allows(_ record: Record) -> Bool {
        if case .allow(let permitted) = self { permitted.matches(record) } else { false }
    }
}
