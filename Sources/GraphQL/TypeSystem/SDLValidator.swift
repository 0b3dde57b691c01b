/// The rules that definitions keep among themselves before a schema is made of them (in graphql-js:
/// the SDL rules).
///
/// What is named exists, and nothing is defined or applied twice.
struct SDLValidator {
    let definitions: [Definition]
    /// The first definition of each type.
    let types: [String: TypeDraft]
    /// The definition of each directive, the built-in ones included.
    let directives: [String: DirectiveDefinition]
    /// Where names were used first, by what they belong to: `Type`, `Type.`, `@`, `schema`.
    var uses: [String: [String: SourceLocation]] = [:]
    private(set) var errors: [GraphQLError] = []
    /// Each suggestion looks at all names, so that only the first mistakes come with one.
    var suggestions: Suggestions { Suggestions(isOn: errors.count < Self.maximumSuggestions) }
    private static let maximumSuggestions = 100

    static let builtInTypes = Set(BuiltIns.definitions.compactMap { TypeDraft($0)?.name })

    init(_ definitions: [Definition]) {
        self.definitions = definitions
        let drafts = definitions.filter { !$0.isExtension }.compactMap(TypeDraft.init)
        types = Dictionary(drafts.map { ($0.name, $0) }) { first, _ in first }
        let known = (definitions + BuiltIns.definitions).compactMap(\.directive)
        directives = Dictionary(known.map { ($0.name, $0) }) { first, _ in first }
    }

    mutating func validate() {
        for definition in definitions {
            switch definition {
            case .operation(let node): refuseExecutable(node.location)
            case .fragment(let node): refuseExecutable(node.location)
            case .schema(let node): validate(node, isExtension: false)
            case .schemaExtension(let node): validate(node, isExtension: true)
            case .directive(let node): validate(node)
            default: if let draft = TypeDraft(definition) { validate(draft, isExtension: definition.isExtension) }
            }
        }
    }

    mutating func report(_ message: String, _ locations: SourceLocation...) {
        report(message, locations)
    }

    mutating func report(_ message: String, _ locations: [SourceLocation]) {
        errors.append(GraphQLError(message, locations: locations))
    }

    /// Remembers that a name was used, and tells where it was before.
    mutating func use(_ name: String, of owner: String, at location: SourceLocation) -> SourceLocation? {
        if let first = uses[owner]?[name] { return first }
        uses[owner, default: [:]][name] = location
        return nil
    }

    mutating func validateTypeName(_ name: String, _ location: SourceLocation) {
        guard types[name] == nil, !Self.builtInTypes.contains(name) else { return }
        let suggestions = suggestions
        let ending = suggestions.isOn ? suggestions.similar(to: name, among: Self.builtInTypes.union(types.keys)) : ""
        report("Unknown type \"\(name)\"." + ending, location)
    }

    private mutating func refuseExecutable(_ location: SourceLocation) {
        report("A schema cannot hold operations or fragments.", location)
    }

    private mutating func validate(_ node: SchemaDefinition, isExtension: Bool) {
        if !isExtension, use("definition", of: "schema", at: node.location) != nil {
            report("Must provide only one schema definition.", node.location)
        }
        validate(node.directives, at: .schema, owner: "schema @")
        for root in node.rootTypes {
            if let first = use(root.kind.rawValue, of: "schema", at: root.location) {
                report("There can be only one \(root.kind.rawValue) type in schema.", first, root.location)
            }
            validateTypeName(root.type, root.location)
        }
    }

    private mutating func validate(_ node: DirectiveDefinition) {
        if let first = use(node.name, of: "@", at: node.location) {
            report("There can be only one directive named \"@\(node.name)\".", first, node.location)
        }
        validate(node.arguments, of: "@\(node.name)")
    }

    private mutating func validate(_ draft: TypeDraft, isExtension: Bool) {
        if isExtension {
            validateExtension(draft)
        } else if let first = use(draft.name, of: "types", at: draft.location) {
            report("There can be only one type named \"\(draft.name)\".", first, draft.location)
        }
        validate(draft.directives, at: draft.kind.directiveLocation, owner: "\(draft.name) @")
        for name in draft.interfaces + draft.members { validateTypeName(name, draft.location) }
        validateMembers(of: draft)
    }

    /// GraphQL §3.4.3: only what is defined can be extended, and as what it is.
    private mutating func validateExtension(_ draft: TypeDraft) {
        guard let type = types[draft.name] else {
            let ending = suggestions.similar(to: draft.name, among: types.keys)
            return report("Cannot extend type \"\(draft.name)\" because it is not defined." + ending, draft.location)
        }
        if type.kind != draft.kind {
            let message = "Cannot extend non-\(draft.kind.words) type \"\(draft.name)\"."
            report(message, type.location, draft.location)
        } else if draft.kind == .inputObject, let directive = draft.directives.first(where: { $0.name == "oneOf" }) {
            let message = "The @oneOf directive must not be provided by an extension of \(draft.name)."
            report(message, directive.location)
        }
    }
}

extension Schema.NamedType.Kind {
    /// As messages speak of it.
    fileprivate var words: String {
        switch self {
        case .enumeration: "enum"
        case .inputObject: "input object"
        case .scalar, .object, .interface, .union: rawValue.lowercased()
        }
    }
}

extension Definition {
    fileprivate var isExtension: Bool {
        switch self {
        case .schemaExtension, .scalarTypeExtension, .objectTypeExtension, .interfaceTypeExtension,
            .unionTypeExtension, .enumTypeExtension, .inputObjectTypeExtension:
            true
        default: false
        }
    }

    fileprivate var directive: DirectiveDefinition? {
        if case .directive(let node) = self { node } else { nil }
    }
}
