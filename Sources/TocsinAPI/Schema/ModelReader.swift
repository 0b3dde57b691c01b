import GraphQL
import TocsinCore

/// Reads `schema/model.graphql`: every unknown or unsupported use is a problem with its line and what to write instead.
struct ModelReader {
    private let file: String
    private var problems: [SchemaProblem] = []
    private var modelNames: Set<String> = []
    private var enumNames: Set<String> = []

    /// The models of a document, and the SDL of its enums.
    static func read(
        _ text: String,
        file: String
    ) throws(SchemaProblems) -> (models: [ModelDeclaration], enums: [EnumTypeDefinition]) {
        let document: Document
        do {
            document = try parse(text, limits: .unlimited)
        } catch {
            let line = error.locations.first?.line ?? 1
            throw SchemaProblems([SchemaProblem(file: file, line: line, message: error.message)])
        }
        var reader = ModelReader(file: file)
        return try reader.read(document)
    }

    private init(file: String) {
        self.file = file
    }

    private mutating func read(
        _ document: Document
    ) throws(SchemaProblems) -> (models: [ModelDeclaration], enums: [EnumTypeDefinition]) {
        var types: [ObjectTypeDefinition] = []
        var enums: [EnumTypeDefinition] = []
        for definition in document.definitions {
            switch definition {
            case .objectType(let type): types.append(type)
            case .enumType(let type): enums.append(type)
            default:
                note(definition.location, "Only object types with @model and enums can stand in the model file.")
            }
        }
        modelNames = Set(types.map(\.name))
        enumNames = Set(enums.map(\.name))
        let models = types.map { model($0) }
        for required in ["Topic", "Message"] where !modelNames.contains(required) {
            problems.append(
                SchemaProblem(file: file, line: 1, message: "The model \(required) is missing; Tocsin needs it.")
            )
        }
        guard problems.isEmpty else { throw SchemaProblems(problems) }
        return (models, enums)
    }

    private mutating func note(_ location: SourceLocation, _ message: String) {
        problems.append(SchemaProblem(file: file, line: location.line, message: message))
    }

    private mutating func model(_ type: ObjectTypeDefinition) -> ModelDeclaration {
        var hasModel = false
        var rules: [AccessRule] = []
        for directive in type.directives {
            switch directive.name {
            case "model":
                hasModel = true
                for argument in directive.arguments {
                    note(directive.location, "@model(\(argument.name):) is not supported; write @model alone.")
                }
            case "auth": rules += accessRules(directive)
            default: note(directive.location, "@\(directive.name) is not supported on a type; use @model and @auth.")
            }
        }
        if !hasModel {
            note(type.location, "Type \(type.name) has no @model; only models and enums can be declared here.")
        }
        if rules.isEmpty {
            note(
                type.location,
                "Type \(type.name) has no rule, so nobody could use it; write @auth(rules: [{ allow: owner }])."
            )
        }
        var declaration = ModelDeclaration(
            name: type.name,
            description: type.description?.value,
            fields: [],
            indexes: [],
            rules: rules,
            line: type.location.line
        )
        for field in type.fields { read(field, into: &declaration) }
        checkFields(of: declaration, type)
        return declaration
    }

    private mutating func checkFields(of model: ModelDeclaration, _ type: ObjectTypeDefinition) {
        if !model.fields.contains(where: { $0.name == "id" && $0.typeText == "ID!" }) {
            note(type.location, "Type \(type.name) needs the field `id: ID!`.")
        }
        for index in model.indexes {
            for name in index.sortFields where !model.declares(name) && name != "createdAt" && name != "updatedAt" {
                note(type.location, "Index \(index.name) sorts by \(name), which \(type.name) does not declare.")
            }
            if index.sortFields.count > 1 {
                note(type.location, "Index \(index.name) has several sort keys; one is supported.")
            }
        }
        for field in model.fields {
            guard let relation = field.relation, !model.declares(relation.keyField) else { continue }
            note(type.location, "@hasOne on \(field.name) names the field \(relation.keyField), which is not declared.")
        }
    }

    private mutating func read(_ definition: FieldDefinition, into model: inout ModelDeclaration) {
        var field = ModelDeclaration.Field(
            name: definition.name,
            typeText: definition.type.description,
            namedType: definition.type.namedType,
            isList: definition.type.isList,
            isRequired: definition.type.isNonNull,
            description: definition.description?.value,
            relation: nil,
            isEnum: enumNames.contains(definition.type.namedType)
        )
        for directive in definition.directives {
            switch directive.name {
            case "index": readIndex(directive, on: field, into: &model)
            case "hasOne": field.relation = relation(directive, of: field)
            case "belongsTo", "hasMany", "manyToMany", "primaryKey", "default", "auth":
                note(
                    directive.location,
                    "@\(directive.name) on a field is not supported yet; remove it from \(field.name)."
                )
            default:
                note(directive.location, "@\(directive.name) is not known; on a field write @index or @hasOne.")
            }
        }
        checkType(of: field, definition)
        model.fields.append(field)
    }

    private mutating func checkType(of field: ModelDeclaration.Field, _ definition: FieldDefinition) {
        let scalars = Set(["ID", "String", "Int", "Float", "Boolean"] + OperatorTypes.scalarNames)
        if modelNames.contains(field.namedType) {
            if field.relation == nil {
                note(
                    definition.location,
                    "\(field.name) leads to \(field.namedType); write @hasOne(fields: [\"…Id\"]) on it."
                )
            }
        } else if !scalars.contains(field.namedType), !enumNames.contains(field.namedType) {
            note(definition.location, "The type \(field.namedType) of \(field.name) is not known.")
        }
        let reserved: Set<String> = ["owner", "_version", "_deleted", "_lastChangedAt"]
        if reserved.contains(field.name) {
            note(definition.location, "The field name \(field.name) is the server's; choose another.")
        }
    }

    private mutating func readIndex(
        _ directive: Directive,
        on field: ModelDeclaration.Field,
        into model: inout ModelDeclaration
    ) {
        var index = ModelIndex(name: "", partitionField: field.name, sortFields: [], queryField: nil)
        for argument in directive.arguments {
            switch argument.name {
            case "name": index.name = argument.value.text ?? ""
            case "queryField": index.queryField = argument.value.text
            case "sortKeyFields": index.sortFields = argument.value.texts
            default:
                note(
                    directive.location,
                    "@index(\(argument.name):) is not supported; use name, sortKeyFields, queryField."
                )
            }
        }
        if index.name.isEmpty { note(directive.location, "@index needs a name: @index(name: \"by…\").") }
        if index.queryField == nil {
            let parts = ([field.name] + index.sortFields).map { $0.prefix(1).uppercased() + $0.dropFirst() }
            let plural = model.plural
            index.queryField =
                plural.prefix(1).lowercased() + plural.dropFirst() + "By" + parts.joined(separator: "And")
        }
        model.indexes.append(index)
    }

    private mutating func relation(_ directive: Directive, of field: ModelDeclaration.Field) -> ModelRelation? {
        let fields = directive.arguments.first { $0.name == "fields" }?.value.texts ?? []
        for argument in directive.arguments where argument.name != "fields" {
            note(directive.location, "@hasOne(\(argument.name):) is not supported; use fields.")
        }
        guard fields.count == 1, modelNames.contains(field.namedType), !field.isList else {
            note(
                directive.location,
                "@hasOne needs one key field and a model type: topic: Topic @hasOne(fields: [\"topicId\"])."
            )
            return nil
        }
        return ModelRelation(fieldName: field.name, target: field.namedType, keyField: fields[0])
    }

    private mutating func accessRules(_ directive: Directive) -> [AccessRule] {
        guard let rules = directive.arguments.first(where: { $0.name == "rules" })?.value.listValue else {
            note(directive.location, "@auth needs rules: @auth(rules: [{ allow: owner }]).")
            return []
        }
        return rules.compactMap { accessRule($0, at: directive.location) }
    }

    private mutating func accessRule(_ value: Value, at location: SourceLocation) -> AccessRule? {
        var rule = AccessRule(operations: Set(AccessRule.Operation.allCases))
        var isOwner = false
        for member in value.objectValue ?? [] {
            let (name, value) = (member.name, member.value)
            switch (name, value.text) {
            case ("allow", "owner"): isOwner = true
            case ("allow", let other):
                note(location, "allow: \(other ?? "?") is not supported yet; write allow: owner.")
            case ("ownerField", "owner"), ("identityClaim", "sub::username"), ("provider", "userPools"): continue
            case ("operations", _):
                rule.operations = []
                for operation in value.texts {
                    guard let known = AccessRule.Operation(rawValue: operation) else {
                        note(location, "The operation \(operation) is not known; write create, read, update, delete.")
                        continue
                    }
                    rule.operations.insert(known)
                }
            default:
                note(location, "\(name): \(value.text ?? "…") is not supported yet in an @auth rule; leave it out.")
            }
        }
        if !isOwner { note(location, "An @auth rule needs allow: owner.") }
        return isOwner ? rule : nil
    }
}

extension Value {
    /// The text of a string or an enum value.
    fileprivate var text: String? { stringValue ?? enumValue }

    /// The texts of a list, or of a single value (GraphQL §3.11: a single value stands for a list of one).
    fileprivate var texts: [String] { (listValue ?? [self]).compactMap(\.text) }
}

extension Definition {
    fileprivate var location: SourceLocation {
        switch self {
        case .operation(let node): node.location
        case .fragment(let node): node.location
        case .schema(let node), .schemaExtension(let node): node.location
        case .scalarType(let node), .scalarTypeExtension(let node): node.location
        case .objectType(let node), .objectTypeExtension(let node): node.location
        case .interfaceType(let node), .interfaceTypeExtension(let node): node.location
        case .unionType(let node), .unionTypeExtension(let node): node.location
        case .enumType(let node), .enumTypeExtension(let node): node.location
        case .inputObjectType(let node), .inputObjectTypeExtension(let node): node.location
        case .directive(let node): node.location
        }
    }
}
