extension Schema {
    /// A field of an object or interface type (GraphQL §3.6).
    ///
    /// A class, because plans and resolvers share one instance.
    public final class Field: Sendable {
        /// Its name.
        public let name: String
        /// What its author says about it.
        public let description: String?
        /// The name of the type it belongs to.
        public let parentName: String
        /// Its arguments in order.
        public let arguments: [InputValue]
        /// Its type.
        public let type: TypeReference
        /// The directives applied to it.
        public let directives: [Directive]
        /// Why it should not be used any more.
        public let deprecationReason: String?
        /// How many members its list is taken to have where nobody says: `@listSize(assumedSize:)`,
        /// as the draft of the cost directives has it.
        public let assumedSize: Int?
        /// Where it was defined.
        public let location: SourceLocation
        /// Its number among all fields of the schema, so that tables by field need no hashing.
        let index: Int

        /// `Type.field` (GraphQL §3.14 (schema coordinates)).
        public var coordinate: String { "\(parentName).\(name)" }

        /// The argument of this name.
        public func argument(named name: String) -> InputValue? { arguments.first { $0.name == name } }

        /// The whole number an argument has when it is left out.
        func defaultInteger(of argument: String) -> Int? {
            self.argument(named: argument)?.defaultValue?.intValue.map { Int(clamping: $0) }
        }

        init(_ node: FieldDefinition, parentName: String, index: Int) {
            name = node.name
            description = node.description?.value
            self.parentName = parentName
            arguments = node.arguments.map(InputValue.init)
            type = node.type
            directives = node.directives
            deprecationReason = Schema.deprecationReason(node.directives)
            let size = node.directives.first { $0.name == "listSize" }?.argument("assumedSize")?.intValue
            assumedSize = node.type.isList ? size.map { max(1, Int(clamping: $0)) } : nil
            location = node.location
            self.index = index
        }
    }

    /// An argument of a field or directive, or a field of an input object type
    /// (GraphQL §3.6.1, §3.10).
    public struct InputValue: Sendable {
        /// Its name.
        public let name: String
        /// What its author says about it.
        public let description: String?
        /// Its type.
        public let type: TypeReference
        /// Its value when none is given.
        public let defaultValue: Value?
        /// The directives applied to it.
        public let directives: [Directive]
        /// Why it should not be used any more.
        public let deprecationReason: String?
        /// Where it was defined.
        public let location: SourceLocation
        /// The built-in scalar that its type is, non-null or not; it saves looking up the name.
        let builtInScalar: BuiltInScalar?

        /// Whether a value must be given.
        public var isRequired: Bool { type.isNonNull && defaultValue == nil }

        init(_ node: InputValueDefinition) {
            name = node.name
            description = node.description?.value
            type = node.type
            defaultValue = node.defaultValue
            directives = node.directives
            deprecationReason = Schema.deprecationReason(node.directives)
            location = node.location
            builtInScalar = node.type.isList ? nil : BuiltInScalar(rawValue: node.type.namedType)
        }
    }

    /// A value of an enum type (GraphQL §3.9).
    public struct EnumValue: Sendable {
        /// Its name.
        public let name: String
        /// What its author says about it.
        public let description: String?
        /// The directives applied to it.
        public let directives: [Directive]
        /// Why it should not be used any more.
        public let deprecationReason: String?

        init(_ node: EnumValueDefinition) {
            name = node.name
            description = node.description?.value
            directives = node.directives
            deprecationReason = Schema.deprecationReason(node.directives)
        }
    }

    /// GraphQL §3.13.3, with the default reason where none is given.
    private static func deprecationReason(_ directives: [Directive]) -> String? {
        guard let directive = directives.first(where: { $0.name == "deprecated" }) else { return nil }
        return directive.argument("reason").map { $0.stringValue ?? "" } ?? "No longer supported"
    }
}

/// Why a schema could not be built: every reason, not only the first.
public struct SchemaErrors: Error, Sendable, CustomStringConvertible {
    /// What is wrong, and where.
    public let errors: [GraphQLError]

    /// One line for each error.
    public var description: String { errors.map(\.description).joined(separator: "\n") }
}
