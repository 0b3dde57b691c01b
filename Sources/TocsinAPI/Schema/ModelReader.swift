import GraphQL
import TocsinCore

/// Reads `schema/model.graphql`: every unknown or unsupported use is a problem with its line
/// and what to write instead.
struct ModelReader {
    typealias Models = (models: [ModelDeclaration], enums: [EnumTypeDefinition], embedded: [EmbeddedType])

    private let file: String
    private(set) var problems: [SchemaProblem] = []
    /// Names of types that are Tocsin's own.
    private let taken: Set<String>
    /// Fields that Tocsin adds to types, roots among them.
    private let own: OwnFields
    private(set) var modelNames: Set<String> = []
    private(set) var embeddedNames: Set<String> = []
    private(set) var enums: [String: EnumTypeDefinition] = [:]

    /// The models of a document, its enums, and the types of objects inside records.
    static func read(_ text: String, file: String, own: OwnFields) throws(SchemaProblems) -> Models {
        let document: Document
        do {
            document = try parse(text, limits: .unlimited)
        } catch {
            let line = error.locations.first?.line ?? 1
            throw SchemaProblems([SchemaProblem(file: file, line: line, message: error.message)])
        }
        var reader = ModelReader(file: file, own: own)
        return try reader.read(document)
    }

    private init(file: String, own: OwnFields) {
        self.file = file
        self.own = own
        taken = own.typeNames.union(["Query", "Mutation", "Subscription", "ID", "String", "Int", "Float", "Boolean"])
            .union(OperatorTypes.scalarNames).union(["ModelSortDirection", "ModelAttributeTypes"])
    }

    private mutating func read(_ document: Document) throws(SchemaProblems) -> Models {
        var types: [ObjectTypeDefinition] = []
        var enumTypes: [EnumTypeDefinition] = []
        for definition in document.definitions {
            switch definition {
            case .objectType(let type): types.append(type)
            case .enumType(let type): enumTypes.append(type)
            default:
                note(
                    definition.location,
                    "Only object types and enums can stand in the model file; what clients are offered is made of the models."
                )
            }
        }
        modelNames = Set(types.filter(\.isModel).map(\.name))
        embeddedNames = Set(types.map(\.name)).subtracting(modelNames)
        enums = Dictionary(enumTypes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var declared: [(name: String, location: SourceLocation)] = types.map { ($0.name, $0.location) }
        declared += enumTypes.map { ($0.name, $0.location) }
        for (name, location) in declared
        where taken.contains(name) || name.hasPrefix("Model") && name.hasSuffix("Input") {
            note(location, "The name \(name) is taken by the server's own types; choose another.")
        }
        checkTypeNames(declared)
        for type in enumTypes { checkDirectives(of: type) }
        var models = types.filter(\.isModel).map { model($0) }
        let embeddedTypes = types.filter { !$0.isModel }.map { embedded($0) }
        checkUse(of: embeddedTypes, in: models)
        checkEndlessness(of: embeddedTypes)
        for (number, model) in models.enumerated() {
            let same = models[..<number].first { $0.plural == model.plural || $0.name == model.name }
            guard let same else { continue }
            note(model.line, "\(model.name) and \(same.name) have the same name or plural; rename one.")
        }
        checkRootFields(of: models)
        for required in ["Topic", "Message"] where !modelNames.contains(required) {
            note(1, "The model \(required) is missing; Tocsin needs it.")
        }
        guard problems.isEmpty else { throw SchemaProblems(problems) }
        var linker = RelationLinker(models: models)
        models = linker.linked()
        for problem in linker.problems { note(problem.line, problem.message) }
        guard problems.isEmpty else { throw SchemaProblems(problems) }
        return (models, enumTypes, embeddedTypes)
    }

    mutating func note(_ location: SourceLocation, _ message: String) { note(location.line, message) }

    mutating func note(_ line: Int, _ message: String) {
        problems.append(SchemaProblem(file: file, line: line, message: message))
    }

    private mutating func model(_ type: ObjectTypeDefinition) -> ModelDeclaration {
        let plural = Plural.of(type.name)
        var operations = OperationNames(model: type.name, plural: plural)
        var rules: [AccessRule] = []
        checkRepeats(type.directives, on: type.name)
        for directive in type.directives {
            switch directive.name {
            case "model": operations = operationNames(directive, of: type.name, plural: plural)
            case "auth": rules += accessRules(directive)
            case _ where directive.name.hasPrefix("aws_"):
                note(directive.location, "@\(directive.name) is AppSync's own; say in @auth(rules: […]) who may.")
            default: note(directive.location, "@\(directive.name) is not supported on a type; use @model and @auth.")
            }
        }
        if rules.isEmpty {
            note(
                type.location,
                "Type \(type.name) has no rule, so nobody could use it; write @auth(rules: [{ allow: owner }])."
            )
        }
        for interface in type.interfaces {
            note(type.location, "Type \(type.name) implements \(interface), which a model cannot; leave it out.")
        }
        var declaration = ModelDeclaration(
            name: type.name,
            plural: plural,
            description: type.description?.value,
            fields: [],
            indexes: [],
            rules: rules,
            operations: operations,
            line: type.location.line
        )
        for field in type.fields { read(field, into: &declaration) }
        check(declaration)
        return declaration
    }

    /// Names of `@model(queries: …)` and of indexes must be names, and must not meet each
    /// other's or Tocsin's own.
    private mutating func checkRootFields(of models: [ModelDeclaration]) {
        var owners: [String: String] = [:]
        for name in ["Query", "Mutation", "Subscription"].flatMap(own.names(of:)) { owners[name] = "Tocsin" }
        for model in models {
            for name in model.operations.all + model.indexes.compactMap(\.queryField) {
                if !Self.isName(name) {
                    note(model.line, "\(model.name) cannot call an operation \(name); choose another name.")
                } else if let other = owners[name] {
                    note(model.line, "\(model.name) and \(other) both name an operation \(name); give it another name.")
                }
                owners[name] = model.name
            }
        }
    }

    private mutating func check(_ model: ModelDeclaration) {
        checkKey(of: model)
        checkTimestamps(of: model)
        checkSecrets(of: model)
        for field in model.fields where own.names(of: model.name).contains(field.name) {
            note(field.line, "\(field.name) of \(model.name) is there already, as Tocsin's own; leave it out.")
        }
        checkRequired(of: model)
        for index in model.indexes {
            for name in index.sortFields { checkSortField(name, of: "Index \(index.name)", in: model) }
        }
        for rule in model.rules + model.fields.flatMap({ $0.rules ?? [] }) {
            if case .groupsField(let name, _) = rule.grantee, !model.declares(name) {
                note(model.line, "groupsField names \(name), which \(model.name) does not declare.")
            }
        }
        let shown = model.implicitOwners + ["_version", "_deleted", "_lastChangedAt", "_key"]
        for field in model.fields where shown.contains(field.name) || field.name.hasPrefix("_") {
            note(field.line, "The field name \(field.name) is the server's; choose another.")
        }
        let owners = Set(model.rules.compactMap { $0.owner?.field })
        if let owner = model.field("owner"), !owners.contains("owner") {
            note(owner.line, "The field name owner is the server's unless a rule has ownerField: \"owner\".")
        }
        for name in owners {
            guard let field = model.field(name), field.relation != nil || field.namedType != "String" else { continue }
            note(field.line, "\(name) holds owners: its type must be String or [String].")
        }
    }

    private mutating func checkKey(of model: ModelDeclaration) {
        if model.hasSimpleKey {
            if model.field("id")?.typeText != "ID!" {
                note(model.line, "Type \(model.name) needs the field `id: ID!`.")
            }
            return
        }
        if ["Topic", "Message"].contains(model.name) {
            note(model.line, "\(model.name) is named by its id; leave @primaryKey out.")
        }
        for (index, name) in model.keyFields.enumerated() {
            checkSortField(name, of: "The primary key", in: model)
            guard let field = model.field(name), !field.isRequired else { continue }
            note(
                field.line,
                "\(name) is part of the primary key\(index == 0 ? "" : " as a sort key"): make it non-null."
            )
        }
    }

    /// What the services and the push payload rest on.
    private mutating func checkRequired(of model: ModelDeclaration) {
        let required = ["Topic": ["name": "String!"], "Message": ["topicId": "ID!"]]
        for (name, type) in required[model.name] ?? [:] where model.field(name)?.typeText != type {
            note(model.line, "\(model.name) needs the field `\(name): \(type)`.")
        }
    }

    private mutating func checkSortField(_ name: String, of what: String, in model: ModelDeclaration) {
        guard let field = model.field(name) else {
            if !model.operations.timestamps.contains(name) {
                note(model.line, "\(what) sorts by \(name), which \(model.name) does not declare.")
            }
            return
        }
        if field.isList || field.relation != nil || field.isEmbedded || field.namedType == "Boolean"
            || field.namedType == "AWSJSON"
        {
            note(field.line, "\(what) cannot sort by \(name): it needs a text or a number.")
        }
    }
}

extension Value {
    var isNull: Bool {
        if case .null = kind { true } else { false }
    }

    /// The text of a string or an enum value.
    var text: String? { stringValue ?? enumValue }

    /// The texts of a list, or of a single value (GraphQL §3.11: a single value
    /// stands for a list of one).
    var texts: [String] { (listValue ?? [self]).compactMap(\.text) }
}

extension ObjectTypeDefinition {
    fileprivate var isModel: Bool { directives.contains { $0.name == "model" } }
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
