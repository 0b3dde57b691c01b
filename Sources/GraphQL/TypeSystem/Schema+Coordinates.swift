extension Schema {
    /// What a coordinate can name.
    public enum Element: Sendable {
        /// A type.
        case type(NamedType)
        /// A field of an object or interface type.
        case field(Field)
        /// An argument of a field.
        case argument(InputValue, of: Field)
        /// A field of an input object type.
        case inputField(InputValue, of: NamedType)
        /// A value of an enum type.
        case enumValue(EnumValue, of: NamedType)
        /// A directive.
        case directive(DirectiveDefinition)
        /// An argument of a directive.
        case directiveArgument(InputValue, of: DirectiveDefinition)
    }

    /// The element a coordinate names, or `nil` when the schema has none (GraphQL §3.14).
    public func resolve(_ coordinate: SchemaCoordinate) -> Element? {
        switch coordinate {
        case .type(let name): return type(named: name).map(Element.type)
        case .member(let name, let member): return type(named: name).flatMap { self.member(named: member, of: $0) }
        case .argument(let name, let field, let argument):
            guard let field = type(named: name)?.field(named: field) else { return nil }
            return field.argument(named: argument).map { .argument($0, of: field) }
        case .directive(let name): return directive(named: name).map(Element.directive)
        case .directiveArgument(let name, let argument):
            guard let directive = directive(named: name) else { return nil }
            return directive.arguments.first { $0.name == argument }
                .map { .directiveArgument(InputValue($0), of: directive) }
        }
    }

    private func member(named name: String, of type: NamedType) -> Element? {
        switch type.kind {
        case .object, .interface: type.field(named: name).map(Element.field)
        case .inputObject: type.inputField(named: name).map { .inputField($0, of: type) }
        case .enumeration: type.enumValues.first { $0.name == name }.map { .enumValue($0, of: type) }
        case .scalar, .union: nil
        }
    }
}
