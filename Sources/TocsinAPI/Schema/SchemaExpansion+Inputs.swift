import TocsinCore

/// Inputs of mutations, filters and keys.
extension SchemaExpansion {
    var createInput: String {
        let made = Set(model.operations.timestamps).union(ShippedDefaults.serverMade[name] ?? [])
        let fields = model.valueFields.map { field in
            let isMade = made.contains(field.name) || field.name == "id" && field.namedType == "ID"
            let isOptional = isMade || field.defaultValue != nil
            return "\(field.name): \(isOptional ? field.nullableInputType : field.inputType)"
        }
        return "input Create\(stem)Input { \((fields + ["_version: Int"]).joined(separator: " ")) }"
    }

    var updateInput: String {
        let fields = model.valueFields.map { field in
            let isKey = model.keyFields.contains(field.name)
            return "\(field.name): \(isKey ? field.nullableInputType + "!" : field.nullableInputType)"
        }
        return "input Update\(stem)Input { \((fields + ["_version: Int"]).joined(separator: " ")) }"
    }

    var deleteInput: String {
        let keys = model.keyFields.map { "\($0): \(model.namedType(of: $0))!" }
        return "input Delete\(stem)Input { \((keys + ["_version: Int"]).joined(separator: " ")) }"
    }

    var condition: String {
        filterInput("Model\(stem)ConditionInput", model.comparedFields.filter { !model.keyFields.contains($0.name) })
    }

    var filter: String { filterInput("Model\(stem)FilterInput", model.comparedFields) }

    var subscriptionFilter: String {
        let inputName = "ModelSubscription\(stem)FilterInput"
        var members = model.comparedFields.map { "\($0.name): ModelSubscription\($0.scalarOperator)Input" }
        members += generatedTimestamps.map { "\($0): ModelSubscriptionStringInput" }
        members += ["and: [\(inputName)]", "or: [\(inputName)]"]
        return "input \(inputName) { \((members + serverMembers).joined(separator: " ")) }"
    }

    private func filterInput(_ inputName: String, _ fields: [ModelDeclaration.Field]) -> String {
        var members = fields.map { "\($0.name): Model\($0.filterOperator)Input" }
        members += generatedTimestamps.map { "\($0): ModelStringInput" }
        members += ["and: [\(inputName)]", "or: [\(inputName)]", "not: \(inputName)"]
        return "input \(inputName) { \((members + serverMembers).joined(separator: " ")) }"
    }

    private var generatedTimestamps: [String] { model.operations.timestamps.filter { !model.declares($0) } }

    private var serverMembers: [String] {
        ["_deleted: ModelBooleanInput"] + model.implicitOwners.map { "\($0): ModelStringInput" }
    }

    /// The inputs of keys with several sort fields, each once.
    var compositeKeyInputs: [String] {
        (model.indexes.filter { $0.queryField != nil || $0.sortFields.count > 1 } + [model.primaryIndex])
            .filter { $0.sortFields.count > 1 }
            .map { index in
                let key = model.compositeName(of: index)
                let fields = index.sortFields.map { "\($0): \(model.namedType(of: $0))" }.joined(separator: " ")
                return "input \(key)Input { \(fields) }\n"
                    + "input \(key)ConditionInput { eq: \(key)Input le: \(key)Input lt: \(key)Input ge: \(key)Input "
                    + "gt: \(key)Input between: [\(key)Input] beginsWith: \(key)Input }"
            }
    }
}

extension EmbeddedType {
    /// The type and its input type.
    var types: String {
        let members = fields.map {
            SchemaExpansion.describe($0.description) + "\($0.name): "
                + ModelDeclaration.typeText($0.typeText, of: $0)
        }
        let inputs = fields.map { "\($0.name): \($0.inputType)" }
        return SchemaExpansion.describe(description) + "type \(name) {\n\(members.joined(separator: "\n"))\n}\n"
            + "input \(inputName) { \(inputs.joined(separator: " ")) }"
    }
}

extension ModelDeclaration {
    /// The primary key as an index.
    var primaryIndex: ModelIndex {
        ModelIndex(
            name: "primary",
            partitionField: keyFields[0],
            sortFields: Array(keyFields.dropFirst()),
            queryField: nil
        )
    }

    /// The type of a field, or of a timestamp that the server adds.
    func namedType(of fieldName: String) -> String { field(fieldName)?.namedType ?? "AWSDateTime" }

    /// The argument of a query by an index that narrows its sort fields; nil when it has none.
    func sortArgument(of index: ModelIndex) -> (name: String, type: String)? {
        switch index.sortFields.count {
        case 0: return nil
        case 1:
            let name = index.sortFields[0]
            return (name, "Model\(field(name)?.scalarOperator ?? "String")KeyConditionInput")
        default: return (index.sortArgumentName, compositeName(of: index) + "ConditionInput")
        }
    }

    func compositeName(of index: ModelIndex) -> String {
        "Model\(name.capitalizedFirst)\(Self.pascal(index.name))CompositeKey"
    }

    private static func pascal(_ text: String) -> String {
        text.split { !$0.isLetter && !$0.isNumber }.map { String($0).capitalizedFirst }.joined()
    }
}

extension ModelIndex {
    /// `statusCreatedAt` for the sort fields `status` and `createdAt`; the field's
    /// own name when there is one.
    var sortArgumentName: String {
        guard let first = sortFields.first else { return "" }
        return first + sortFields.dropFirst().map(\.capitalizedFirst).joined()
    }
}

extension ModelDeclaration.Field {
    /// The type of an input's member: objects have an input type of their own.
    var inputType: String {
        isEmbedded ? typeText.replacing(namedType, with: namedType + "Input", maxReplacements: 1) : typeText
    }

    /// The same without its outer `!`.
    var nullableInputType: String { inputType.hasSuffix("!") ? String(inputType.dropLast()) : inputType }

    /// The operators of a value: by its own type for GraphQL's scalars, `String` for the others.
    var scalarOperator: String {
        switch namedType {
        case "ID": "ID"
        case "Int", "AWSTimestamp": "Int"
        case "Float": "Float"
        case "Boolean": "Boolean"
        default: "String"
        }
    }

    /// The operators of a filter; an enum has its own.
    var filterOperator: String { isEnum ? namedType + (isList ? "List" : "") : scalarOperator }
}

/// Fields that the schema requires and the server makes when a client leaves them out.
enum ShippedDefaults {
    static let serverMade: [String: Set<String>] = ["Topic": ["arn"]]
}
