/// Whether a schema keeps the rules of GraphQL §3 ("Type Validation" of each kind of type).
///
/// That names exist and are defined once is for `SDLValidator` to say; what does not
/// exist is passed over here.
struct SchemaValidator {
    let schema: Schema
    private(set) var errors: [GraphQLError] = []

    init(schema: Schema) {
        self.schema = schema
    }

    mutating func validate() {
        validateRootTypes()
        validateDirectives()
        for type in schema.types where !type.isIntrospection || !SDLValidator.builtInTypes.contains(type.name) {
            validateName(type.name, type.location)
            switch type.kind {
            case .object, .interface:
                validateFields(of: type)
                validateInterfaces(of: type)
            case .union: validateMembers(of: type)
            case .enumeration: validateValues(of: type)
            case .inputObject: validateInputFields(of: type)
            case .scalar: break
            }
            validateValues(of: type.directives)
        }
        validateInputCycles()
    }

    mutating func report(_ message: String, _ locations: SourceLocation...) {
        errors.append(GraphQLError(message, locations: locations))
    }

    mutating func validateName(_ name: String, _ location: SourceLocation) {
        guard name.hasPrefix("__") else { return }
        report(
            "Name \"\(name)\" must not begin with \"__\", which is reserved by GraphQL introspection.",
            location
        )
    }

    /// GraphQL §3.3.1: the root types are objects, and no two are the same.
    private mutating func validateRootTypes() {
        var kinds: [String: [RootTypeDefinition]] = [:]
        for kind in OperationKind.allCases {
            let word = kind.rawValue.prefix(1).uppercased() + kind.rawValue.dropFirst()
            let condition = kind == .query ? "" : " if provided"
            guard let root = schema.parts.definition.rootTypes.first(where: { $0.kind == kind }) else {
                if kind == .query { report("Query root type must be provided.") }
                continue
            }
            guard let type = schema.type(named: root.type) else { continue }
            kinds[root.type, default: []].append(root)
            if type.kind != .object {
                let message = "\(word) root type must be Object type\(condition), it cannot be \(type.name)."
                report(message, root.location)
            }
        }
        for (name, roots) in kinds.sorted(by: { $0.key < $1.key }) where roots.count > 1 {
            let words = roots.map(\.kind.rawValue).joined(separator: " and ")
            let message = "All root types must be different, \"\(name)\" type is used as \(words) root types."
            errors.append(GraphQLError(message, locations: roots.map(\.location)))
        }
        validateValues(of: schema.appliedDirectives)
    }
}
