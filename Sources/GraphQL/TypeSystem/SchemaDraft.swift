/// Definitions gathered from all documents, extensions merged, before anything refers to anything.
///
/// A second definition of one name, and an extension of something that cannot be extended, are left
/// out; `SDLValidator` reports both.
struct SchemaDraft {
    var schema: SchemaDefinition
    private(set) var types: [TypeDraft] = []
    private(set) var directives: [DirectiveDefinition] = []
    private var indices: [String: Int] = [:]
    private var directiveNames: Set<String> = []
    private var hasSchemaDefinition = false
    private var builtInTypes = 0
    private var builtInDirectives = 0

    init(_ definitions: [Definition]) {
        let start = SourceLocation(line: 1, column: 1)
        schema = SchemaDefinition(description: nil, directives: [], rootTypes: [], location: start)
        for definition in definitions { add(definition) }
        addBuiltIns(usedBy: definitions)
        for definition in definitions { extend(with: definition) }
        if !hasSchemaDefinition { nameRootTypesByConvention() }
    }

    /// The name of the root type of a kind of operations.
    func rootTypeName(_ kind: OperationKind) -> String? {
        schema.rootTypes.first { $0.kind == kind }?.type
    }

    /// What the schema prints: its own definitions, the schema definition only where
    /// convention does not say it.
    var printedDefinitions: [Definition] {
        let isConventional = OperationKind.allCases.allSatisfy { kind in
            let name = Self.conventionalName(kind)
            return rootTypeName(kind).map { $0 == name } ?? (indices[name] == nil)
        }
        let isSilent = isConventional && schema.directives.isEmpty && schema.description == nil
        return (isSilent ? [] : [.schema(schema)])
            + directives.dropLast(builtInDirectives).map(Definition.directive)
            + types.dropLast(builtInTypes).map(\.definition)
    }

    private mutating func add(_ definition: Definition) {
        switch definition {
        case .schema(let node):
            if !hasSchemaDefinition { schema = node }
            hasSchemaDefinition = true
        case .directive(let node):
            if directiveNames.insert(node.name).inserted { directives.append(node) }
        case .scalarType, .objectType, .interfaceType, .unionType, .enumType, .inputObjectType:
            if let draft = TypeDraft(definition) { add(draft) }
        default: break
        }
    }

    private mutating func add(_ draft: TypeDraft) {
        guard indices[draft.name] == nil else { return }
        indices[draft.name] = types.count
        types.append(draft)
    }

    /// Adds what is built in and was not defined by hand; of the scalars those that
    /// are used (GraphQL §3.5).
    private mutating func addBuiltIns(usedBy definitions: [Definition]) {
        let used = Self.namesUsed(by: definitions + BuiltIns.definitions)
        for definition in BuiltIns.definitions {
            if case .directive(let node) = definition {
                guard directiveNames.insert(node.name).inserted else { continue }
                directives.append(node)
                builtInDirectives += 1
            } else if let draft = TypeDraft(definition), indices[draft.name] == nil {
                guard draft.kind != .scalar || used.contains(draft.name) else { continue }
                add(draft)
                builtInTypes += 1
            }
        }
    }

    /// The names of all types that definitions refer to.
    private static func namesUsed(by definitions: [Definition]) -> Set<String> {
        var names: Set<String> = []
        for definition in definitions {
            switch definition {
            case .directive(let node): names.formUnion(node.arguments.map(\.type.namedType))
            case .schema(let node), .schemaExtension(let node): names.formUnion(node.rootTypes.map(\.type))
            default: break
            }
            guard let draft = TypeDraft(definition) else { continue }
            names.formUnion(draft.interfaces + draft.members)
            for field in draft.fields {
                names.insert(field.type.namedType)
                names.formUnion(field.arguments.map(\.type.namedType))
            }
            names.formUnion(draft.inputFields.map(\.type.namedType))
        }
        return names
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
        guard let index = indices[draft.name], types[index].kind == draft.kind else { return }
        types[index].extend(with: draft)
    }

    private mutating func nameRootTypesByConvention() {
        for kind in OperationKind.allCases where rootTypeName(kind) == nil {
            let name = Self.conventionalName(kind)
            guard let index = indices[name] else { continue }
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
}
