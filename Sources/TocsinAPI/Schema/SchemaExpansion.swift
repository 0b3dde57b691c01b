import TocsinCore

/// Expands a model into the SDL that Amplify's transformer generates for it (`docs/appsync.md`).
struct SchemaExpansion {
    let model: ModelDeclaration
    /// All models, for the arguments of `@hasMany` fields.
    let models: [ModelDeclaration]

    var name: String { model.name }
    /// The name within names of types: with a capital.
    var stem: String { model.name.capitalizedFirst }

    /// All types of the model; root fields come from `queryFields` and its siblings.
    var types: String {
        let operations = model.operations
        var types = [objectType, connection, filter]
        if operations.create != nil { types.append(createInput) }
        if operations.update != nil { types.append(updateInput) }
        if operations.delete != nil { types.append(deleteInput) }
        if !mutationFields.isEmpty { types.append(condition) }
        if !subscriptionFields.isEmpty { types.append(subscriptionFilter) }
        return (types + compositeKeyInputs).joined(separator: "\n")
    }

    var queryFields: [String] {
        let paging = "filter: Model\(stem)FilterInput, limit: Int, nextToken: String"
        let connection = "Model\(stem)Connection"
        let keys = model.keyFields.map { "\($0): \(model.namedType(of: $0))!" }.joined(separator: ", ")
        let list = model.hasSimpleKey ? paging : listKeys + paging + ", sortDirection: ModelSortDirection"
        let operations = model.operations
        var fields = [
            operations.get.map { "\($0)(\(keys)): \(name)" }, operations.list.map { "\($0)(\(list)): \(connection)" },
            operations.sync.map { "\($0)(\(paging), lastSync: AWSTimestamp): \(connection)" },
        ].compactMap(\.self)
        for index in model.indexes {
            guard let queryField = index.queryField else { continue }
            let sort = model.sortArgument(of: index).map { "\($0.name): \($0.type), " } ?? ""
            let partition = "\(index.partitionField): \(model.namedType(of: index.partitionField))!"
            fields.append(
                "\(queryField)(\(partition), \(sort)sortDirection: ModelSortDirection, \(paging)): \(connection)"
            )
        }
        return fields
    }

    var mutationFields: [String] {
        let operations = model.operations
        return [("Create", operations.create), ("Update", operations.update), ("Delete", operations.delete)]
            .compactMap { verb, field in
                field.map { "\($0)(input: \(verb)\(stem)Input!, condition: Model\(stem)ConditionInput): \(name)" }
            }
    }

    var subscriptionFields: [String] {
        let owners = SubscriptionArguments.owners(of: model.rules).map { ", \($0): String" }.joined()
        let operations = model.operations
        return (operations.onCreate + operations.onUpdate + operations.onDelete).map { field in
            // `topicId` and `after` resume a feed: only messages have one.
            let feed = field == "onCreateMessage" ? ", topicId: ID, after: String" : ""
            return "\(field)(filter: ModelSubscription\(stem)FilterInput\(owners)\(feed)): \(name)"
        }
    }

    /// The arguments of `list` by a primary key of one's own.
    private var listKeys: String {
        let partition = "\(model.keyFields[0]): \(model.namedType(of: model.keyFields[0])), "
        let sort = model.sortArgument(of: model.primaryIndex).map { "\($0.name): \($0.type), " } ?? ""
        return partition + sort
    }

    private var objectType: String {
        var lines = model.fields.map {
            Self.describe($0.description) + $0.name + arguments(of: $0) + ": "
                + ModelDeclaration.typeText(type(of: $0), of: $0)
        }
        for timestamp in model.operations.timestamps where !model.declares(timestamp) {
            lines.append("\(timestamp): AWSDateTime!")
        }
        lines += ["_version: Int!", "_deleted: Boolean", "_lastChangedAt: AWSTimestamp!"]
        lines += model.implicitOwners.map { "\($0): String" }
        return Self.describe(model.description) + "type \(name) {\n\(lines.joined(separator: "\n"))\n}"
    }

    private func type(of field: ModelDeclaration.Field) -> String {
        field.relation?.kind == .hasMany ? "Model\(field.namedType.capitalizedFirst)Connection" : field.typeText
    }

    private func arguments(of field: ModelDeclaration.Field) -> String {
        guard field.relation?.kind == .hasMany, let target = models.first(where: { $0.name == field.namedType }),
            case .many(_, let index)? = model.relations.first(where: { $0.fieldName == field.name })?.kind
        else { return "" }
        let sort = target.sortArgument(of: index).map { "\($0.name): \($0.type), " } ?? ""
        return "(\(sort)filter: Model\(target.name.capitalizedFirst)FilterInput, sortDirection: ModelSortDirection, "
            + "limit: Int, nextToken: String)"
    }

    private var connection: String {
        "type Model\(stem)Connection { items: [\(name)]! nextToken: String startedAt: AWSTimestamp }"
    }

    static func describe(_ text: String?) -> String {
        guard let text else { return "" }
        let escaped = text.split(separator: "\"\"\"", omittingEmptySubsequences: false).joined(separator: "\\\"\"\"")
        return "\"\"\"\(escaped)\"\"\"\n"
    }
}

/// The arguments of subscriptions that come from rules.
enum SubscriptionArguments {
    /// The owner fields that a subscriber may name: those of rules that let owners listen.
    static func owners(of rules: [AccessRule]) -> [String] {
        var names: [String] = []
        for rule in rules where rule.covers(.listen) {
            if let owner = rule.owner, !names.contains(owner.field) { names.append(owner.field) }
        }
        return names
    }
}
