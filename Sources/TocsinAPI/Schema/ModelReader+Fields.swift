import GraphQL
import JSON
import TocsinCore

/// Fields and their directives.
extension ModelReader {
    /// A field without what its directives say.
    func field(_ definition: FieldDefinition) -> ModelDeclaration.Field {
        ModelDeclaration.Field(
            name: definition.name,
            typeText: definition.type.description,
            namedType: definition.type.namedType,
            isList: definition.type.isList,
            isRequired: definition.type.isNonNull,
            description: definition.description?.value,
            relation: nil,
            isEnum: enums[definition.type.namedType] != nil,
            isEmbedded: embeddedNames.contains(definition.type.namedType),
            line: definition.location.line
        )
    }

    mutating func read(_ definition: FieldDefinition, into model: inout ModelDeclaration) {
        var field = field(definition)
        checkRepeats(definition.directives, on: definition.name)
        for directive in definition.directives {
            switch directive.name {
            case "index": readIndex(directive, on: field, into: &model)
            case "primaryKey": readPrimaryKey(directive, on: field, into: &model)
            case "hasOne", "hasMany", "belongsTo": field.relation = relation(directive, of: field)
            case "default": field.defaultValue = defaultValue(directive, of: field)
            case "auth": field.rules = accessRules(directive)
            case "listSize": field.assumedSize = assumedSize(directive, of: field)
            case "typeNames": model.typeNames = typeNames(directive, on: field, of: model.name)
            case "manyToMany":
                note(
                    directive.location,
                    "@manyToMany is not supported; declare the model in between, with two @belongsTo, and @hasMany to it."
                )
            case _ where directive.name.hasPrefix("aws_"):
                note(directive.location, "@\(directive.name) is AppSync's own; say in @auth(rules: […]) who may.")
            default:
                note(
                    directive.location,
                    "@\(directive.name) is not known; on a field write @index, @primaryKey, @hasOne, @hasMany, "
                        + "@belongsTo, @default, @listSize or @auth, and on a message's type @typeNames."
                )
            }
        }
        if !definition.arguments.isEmpty {
            note(
                definition.location,
                "\(field.name) of \(model.name) has arguments, which a model's field cannot have."
            )
        }
        check(field)
        if model.declares(field.name) { note(field.line, "\(model.name) declares \(field.name) twice.") }
        model.fields.append(field)
    }

    mutating func check(_ field: ModelDeclaration.Field) {
        let scalars = Set(["ID", "String", "Int", "Float", "Boolean"] + OperatorTypes.scalarNames)
        if modelNames.contains(field.namedType) {
            if field.relation == nil {
                let use = field.isList ? "@hasMany" : "@hasOne(fields: [\"…Id\"])"
                note(field.line, "\(field.name) leads to \(field.namedType); write \(use) on it.")
            }
        } else if !field.isEmbedded, !scalars.contains(field.namedType), enums[field.namedType] == nil {
            note(field.line, "The type \(field.namedType) of \(field.name) is not known.")
        }
        if field.typeText.contains("[[") {
            note(field.line, "\(field.name) is a list of lists, which cannot be stored.")
        }
    }

    private mutating func readIndex(
        _ directive: Directive,
        on field: ModelDeclaration.Field,
        into model: inout ModelDeclaration
    ) {
        var index = ModelIndex(name: "", partitionField: field.name, sortFields: [], queryField: nil)
        var isQueried = true
        for argument in directive.arguments {
            switch argument.name {
            case "name": index.name = word(argument.value, of: "name", at: directive.location) ?? ""
            case "queryField":
                // Written as null: an index without a query.
                isQueried = !argument.value.isNull
                guard isQueried else { continue }
                index.queryField = word(argument.value, of: "queryField", at: directive.location)
            case "sortKeyFields":
                index.sortFields = words(argument.value, of: "sortKeyFields", at: directive.location)
            default:
                note(
                    directive.location,
                    "@index(\(argument.name):) is not supported; use name, sortKeyFields, queryField."
                )
            }
        }
        let parts = ([field.name] + index.sortFields).map(\.capitalizedFirst)
        if index.name.isEmpty {
            // Amplify's default.
            index.name = model.plural.loweredFirst + "By" + parts.joined(separator: "And")
        }
        if index.queryField == nil, isQueried {
            index.queryField = model.plural.loweredFirst + "By" + parts.joined(separator: "And")
        }
        if field.isList || field.isEmbedded {
            note(directive.location, "@index on \(field.name) needs a single value that has no @auth of its own.")
        }
        if model.indexes.contains(where: { $0.name == index.name }) {
            note(directive.location, "\(model.name) has two indexes named \(index.name); give each its own name.")
        }
        model.indexes.append(index)
    }

    private mutating func readPrimaryKey(
        _ directive: Directive,
        on field: ModelDeclaration.Field,
        into model: inout ModelDeclaration
    ) {
        var sortFields: [String] = []
        for argument in directive.arguments {
            switch argument.name {
            case "sortKeyFields": sortFields = words(argument.value, of: "sortKeyFields", at: directive.location)
            default: note(directive.location, "@primaryKey(\(argument.name):) is not supported; use sortKeyFields.")
            }
        }
        if model.keyFields != ["id"] { note(directive.location, "\(model.name) has two primary keys; keep one.") }
        model.keyFields = [field.name] + sortFields
    }

    /// How many members a list inside a record is taken to have: `@listSize(assumedSize: 20)`.
    mutating func assumedSize(_ directive: Directive, of field: ModelDeclaration.Field) -> Int? {
        let size = directive.argument("assumedSize")?.intValue ?? 0
        guard field.isList, field.isEmbedded, directive.arguments.count == 1, (1...1000).contains(size) else {
            note(
                directive.location,
                "@listSize stands on a list of objects that are kept inside a record, and says how many there are at most: "
                    + "@listSize(assumedSize: 20), from 1 to 1000."
            )
            return nil
        }
        return Int(size)
    }

    private mutating func defaultValue(_ directive: Directive, of field: ModelDeclaration.Field) -> FieldValue? {
        guard let text = directive.argument("value")?.stringValue, directive.arguments.count == 1 else {
            note(directive.location, "@default needs its value as a text: @default(value: \"…\").")
            return nil
        }
        let value: FieldValue?
        switch field.namedType {
        case _ where field.isList || field.isEmbedded: value = nil
        case "Int": value = Int32(text).map { .int(Int64($0)) }
        case "AWSTimestamp": value = Int64(text).map(FieldValue.int)
        case "Float": value = Double(text).flatMap { $0.isFinite ? .double($0) : nil }
        case "Boolean": value = ["true": .bool(true), "false": .bool(false)][text]
        case _ where field.isEnum:
            value = enums[field.namedType]?.values.contains { $0.name == text } == true ? .text(text) : nil
        default:
            let isCustom = OperatorTypes.scalarNames.contains(field.namedType)
            let isTaken = !isCustom || AWSScalars.coerced(.string(text), as: field.namedType) != nil
            value = isTaken ? .text(text) : nil
        }
        if value == nil {
            note(directive.location, "@default(value: \"\(text)\") is no value of \(field.name): \(field.typeText).")
        }
        return value
    }

    /// `@typeNames(names: [...])`: the words for types of messages.
    private mutating func typeNames(
        _ directive: Directive,
        on field: ModelDeclaration.Field,
        of model: String
    ) -> [String]? {
        guard model == "Message", field.name == "type", field.namedType == "Int", !field.isList else {
            note(directive.location, "@typeNames stands on Message.type, which must be an Int; leave it out here.")
            return nil
        }
        guard directive.arguments.count == 1, let names = directive.argument("names") else {
            note(directive.location, "@typeNames takes the words for 0, 1, 2…: @typeNames(names: [\"…\"]).")
            return nil
        }
        let words = words(names, of: "names", at: directive.location)
        if words.count > 1000 || words.contains(where: { $0.utf8.count > 64 }) {
            note(directive.location, "@typeNames takes at most 1000 words of at most 64 bytes each.")
        }
        for (position, word) in words.enumerated() {
            if words[..<position].contains(where: { $0.lowercased() == word.lowercased() }) {
                note(directive.location, "@typeNames has \(word) twice; keep one.")
            }
            if word.allSatisfy(\.isNumber) {
                note(directive.location, "@typeNames has \(word), which would be taken for a number; choose a word.")
            }
        }
        return words
    }

    private mutating func relation(
        _ directive: Directive,
        of field: ModelDeclaration.Field
    ) -> ModelDeclaration.Relation? {
        guard let kind = ModelDeclaration.Relation.Kind(rawValue: directive.name) else { return nil }
        var relation = ModelDeclaration.Relation(
            kind: kind,
            fields: [],
            references: [],
            line: directive.location.line
        )
        for argument in directive.arguments {
            switch (argument.name, kind) {
            case ("fields", _), ("references", .belongsTo): relation.fields = argument.value.texts
            case ("references", .hasMany): relation.references = argument.value.texts
            case ("indexName", .hasMany): relation.indexName = argument.value.text
            default:
                let known = kind == .hasMany ? "fields, indexName or references" : "fields"
                note(directive.location, "@\(directive.name)(\(argument.name):) is not supported; use \(known).")
            }
        }
        let isMany = kind == .hasMany
        guard modelNames.contains(field.namedType), field.isList == isMany else {
            let form = isMany ? "a list of a model: comments: [Comment]" : "a model: topic: Topic"
            note(directive.location, "@\(directive.name) stands on a field whose type is \(form).")
            return nil
        }
        return relation
    }
}

extension String {
    /// With its first letter in upper case.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

    /// With its first letter in lower case.
    var loweredFirst: String { prefix(1).lowercased() + dropFirst() }
}
