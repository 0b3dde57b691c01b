/// Definitions gathered from all documents, extensions merged, before anything refers to anything.
struct SchemaDraft {
    var schema: SchemaDefinition
    private(set) var types: [TypeDraft] = []
    private(set) var directives: [DirectiveDefinition] = []
    private(set) var errors: [GraphQLError] = []
    private var indices: [String: Int] = [:]
    private var hasSchemaDefinition = false
    private var builtInTypes = 0
    private var builtInDirectives = 0

    init(documents: [Document]) {
        let start = SourceLocation(line: 1, column: 1)
        schema = SchemaDefinition(description: nil, directives: [], rootTypes: [], location: start)
        let definitions = documents.flatMap(\.definitions)
        for definition in definitions { add(definition) }
        addBuiltIns()
        for definition in definitions { extend(with: definition) }
        if !hasSchemaDefinition { nameRootTypesByConvention() }
    }

    /// The name of the root type of a kind of operations.
    func rootTypeName(_ kind: OperationKind) -> String? {
        schema.rootTypes.first { $0.kind == kind }?.type
    }

    /// What the schema prints: its own definitions, the schema definition only where convention does not say it.
    var printedDefinitions: [Definition] {
        let isConventional = schema.rootTypes.allSatisfy { $0.type == Self.conventionalName($0.kind) }
        let isSilent = isConventional && schema.directives.isEmpty && schema.description == nil
        return (isSilent ? [] : [.schema(schema)])
            + directives.dropLast(builtInDirectives).map(Definition.directive)
            + types.dropLast(builtInTypes).map(\.definition)
    }

    private mutating func add(_ definition: Definition) {
        switch definition {
        case .operation(let node): refuseExecutable(node.location)
        case .fragment(let node): refuseExecutable(node.location)
        case .schema(let node):
            if hasSchemaDefinition { error("Must provide only one schema definition.", node.location) }
            hasSchemaDefinition = true
            schema = node
        case .directive(let node):
            if directives.contains(where: { $0.name == node.name }) {
                error("There can be only one directive named \"@\(node.name)\".", node.location)
            }
            directives.append(node)
        case .scalarType, .objectType, .interfaceType, .unionType, .enumType, .inputObjectType:
            if let draft = TypeDraft(definition) { add(draft) }
        default: break
        }
    }

    private mutating func add(_ draft: TypeDraft) {
        if indices[draft.name] != nil {
            return error("There can be only one type named \"\(draft.name)\".", draft.location)
        }
        indices[draft.name] = types.count
        types.append(draft)
    }

    /// Adds what is built in and was not defined by hand.
    private mutating func addBuiltIns() {
        for definition in BuiltIns.document.definitions {
            if case .directive(let node) = definition {
                guard !directives.contains(where: { $0.name == node.name }) else { continue }
                directives.append(node)
                builtInDirectives += 1
            } else if let draft = TypeDraft(definition), indices[draft.name] == nil {
                add(draft)
                builtInTypes += 1
            }
        }
    }

    private mutating func extend(with definition: Definition) {
        switch definition {
        case .schemaExtension(let node):
            schema.directives += node.directives
            schema.rootTypes += node.rootTypes
        case .scalarTypeExtension, .objectTypeExtension, .interfaceTypeExtension, .unionTypeExtension,
            .enumTypeExtension, .inputObjectTypeExtension:
            if let draft = TypeDraft(definition) { extend(with: draft) }
        default: break
        }
    }

    private mutating func extend(with draft: TypeDraft) {
        guard let index = indices[draft.name] else {
            return error("Cannot extend type \"\(draft.name)\" because it is not defined.", draft.location)
        }
        guard types[index].kind == draft.kind else {
            let kind = types[index].kind.rawValue.lowercased()
            return error("Cannot extend type \"\(draft.name)\" as another kind: it is a \(kind).", draft.location)
        }
        types[index].extend(with: draft)
    }

    private mutating func nameRootTypesByConvention() {
        for kind in [OperationKind.query, .mutation, .subscription] where rootTypeName(kind) == nil {
            let name = Self.conventionalName(kind)
            guard let index = indices[name], types[index].kind == .object else { continue }
            schema.rootTypes.append(RootTypeDefinition(kind: kind, type: name, location: types[index].location))
        }
    }

    private static func conventionalName(_ kind: OperationKind) -> String {
        switch kind {
        case .query: "Query"
        case .mutation: "Mutation"
        case .subscription: "Subscription"
        }
    }

    private mutating func refuseExecutable(_ location: SourceLocation) {
        error("A schema cannot hold operations or fragments.", location)
    }

    private mutating func error(_ message: String, _ location: SourceLocation) {
        errors.append(GraphQLError(message, locations: [location]))
    }
}
