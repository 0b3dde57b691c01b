import TocsinCore

/// Expands a model into the SDL that Amplify's transformer generates for it (appsync.md 1.1 to 1.3).
struct SchemaExpansion {
    let model: ModelDeclaration

    private var name: String { model.name }

    /// All types of the model; root fields come from `queryFields` and its siblings.
    var types: String {
        [objectType, connection, createInput, updateInput, deleteInput, condition, filter, subscriptionFilter]
            .joined(separator: "\n")
    }

    var queryFields: [String] {
        let filter = "filter: Model\(name)FilterInput, limit: Int, nextToken: String"
        let indexed = model.indexes.compactMap { index -> String? in
            guard let queryField = index.queryField else { return nil }
            let sortKeys = index.sortFields.map { "\($0): Model\(operatorName(of: $0))KeyConditionInput, " }.joined()
            return "\(queryField)(\(index.partitionField): \(namedType(of: index.partitionField))!, \(sortKeys)"
                + "sortDirection: ModelSortDirection, \(filter)): Model\(name)Connection"
        }
        return ["get\(name)(id: ID!): \(name)", "list\(model.plural)(\(filter)): Model\(name)Connection"] + indexed
    }

    var mutationFields: [String] {
        ["create", "update", "delete"].map { verb in
            let inputName = verb.prefix(1).uppercased() + verb.dropFirst() + name + "Input"
            return "\(verb)\(name)(input: \(inputName)!, condition: Model\(name)ConditionInput): \(name)"
        }
    }

    var subscriptionFields: [String] {
        ["Create", "Update", "Delete"].map { verb in
            // `topicId` and `after` resume a feed (product.md 5); they exist where messages are created.
            let feed = name == "Message" && verb == "Create" ? ", topicId: ID, after: String" : ""
            return "on\(verb)\(name)(filter: ModelSubscription\(name)FilterInput, owner: String\(feed)): \(name)"
        }
    }

    private var objectType: String {
        var lines = model.fields.map { describe($0.description) + "\($0.name): \($0.typeText)" }
        for timestamp in ["createdAt", "updatedAt"] where !model.declares(timestamp) {
            lines.append("\(timestamp): AWSDateTime!")
        }
        lines += ["_version: Int!", "_deleted: Boolean", "_lastChangedAt: AWSTimestamp!", "owner: String"]
        return describe(model.description) + "type \(name) {\n\(lines.joined(separator: "\n"))\n}"
    }

    private var connection: String {
        "type Model\(name)Connection { items: [\(name)]! nextToken: String startedAt: AWSTimestamp }"
    }

    private var createInput: String {
        let made = Set(["id", "createdAt", "updatedAt"]).union(ShippedDefaults.serverMade[name] ?? [])
        let fields = model.valueFields.map { field in
            made.contains(field.name) ? "\(field.name): \(nullable(field))" : "\(field.name): \(field.typeText)"
        }
        return "input Create\(name)Input { \((fields + ["_version: Int"]).joined(separator: " ")) }"
    }

    private var updateInput: String {
        let fields = model.valueFields.map { field in
            field.name == "id" ? "id: ID!" : "\(field.name): \(nullable(field))"
        }
        return "input Update\(name)Input { \((fields + ["_version: Int"]).joined(separator: " ")) }"
    }

    private var deleteInput: String { "input Delete\(name)Input { id: ID! _version: Int }" }

    private var condition: String {
        let own = model.valueFields.filter { $0.name != "id" }
        return filterInput("Model\(name)ConditionInput", own, withNot: true)
    }

    private var filter: String { filterInput("Model\(name)FilterInput", model.valueFields, withNot: true) }

    private var subscriptionFilter: String {
        filterInput("ModelSubscription\(name)FilterInput", model.valueFields, prefix: "Subscription", withNot: false)
    }

    private func filterInput(
        _ inputName: String,
        _ fields: [ModelDeclaration.Field],
        prefix: String = "",
        withNot: Bool
    ) -> String {
        var members = fields.map { "\($0.name): Model\(prefix)\(operatorName(of: $0.name))Input" }
        for timestamp in ["createdAt", "updatedAt"] where !model.declares(timestamp) {
            members.append("\(timestamp): Model\(prefix)StringInput")
        }
        members += ["and: [\(inputName)]", "or: [\(inputName)]"]
        if withNot { members.append("not: \(inputName)") }
        members += ["_deleted: ModelBooleanInput", "owner: ModelStringInput"]
        return "input \(inputName) { \(members.joined(separator: " ")) }"
    }

    private func nullable(_ field: ModelDeclaration.Field) -> String {
        field.typeText.hasSuffix("!") ? String(field.typeText.dropLast()) : field.typeText
    }

    private func namedType(of fieldName: String) -> String {
        model.fields.first { $0.name == fieldName }?.namedType ?? "String"
    }

    /// The operator input of a field: by its own type for GraphQL's scalars, `String` for the others.
    private func operatorName(of fieldName: String) -> String {
        switch namedType(of: fieldName) {
        case "ID": "ID"
        case "Int", "AWSTimestamp": "Int"
        case "Float": "Float"
        case "Boolean": "Boolean"
        default: "String"
        }
    }

    private func describe(_ text: String?) -> String {
        guard let text else { return "" }
        let escaped = text.split(separator: "\"\"\"", omittingEmptySubsequences: false).joined(separator: "\\\"\"\"")
        return "\"\"\"\(escaped)\"\"\"\n"
    }
}

/// Fields that the schema requires and the server makes when a client leaves them out.
enum ShippedDefaults {
    static let serverMade: [String: Set<String>] = ["Topic": ["arn"]]
}
