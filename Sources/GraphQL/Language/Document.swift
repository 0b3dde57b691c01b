/// What was written in one text: operations and fragments, or the definitions of a type system.
public struct Document: Sendable {
    /// The definitions in the order they were written.
    public var definitions: [Definition]

    /// The operations in order.
    public var operations: [OperationDefinition] {
        definitions.compactMap { if case .operation(let operation) = $0 { operation } else { nil } }
    }

    /// The fragments in order.
    public var fragments: [FragmentDefinition] {
        definitions.compactMap { if case .fragment(let fragment) = $0 { fragment } else { nil } }
    }
}

/// One definition or extension (GraphQL §2.3, §3.1).
public enum Definition: Sendable {
    /// A query, mutation or subscription.
    case operation(OperationDefinition)
    /// A named fragment.
    case fragment(FragmentDefinition)
    /// `schema { … }`
    case schema(SchemaDefinition)
    /// `scalar …`
    case scalarType(ScalarTypeDefinition)
    /// `type …`
    case objectType(ObjectTypeDefinition)
    /// `interface …`
    case interfaceType(InterfaceTypeDefinition)
    /// `union …`
    case unionType(UnionTypeDefinition)
    /// `enum …`
    case enumType(EnumTypeDefinition)
    /// `input …`
    case inputObjectType(InputObjectTypeDefinition)
    /// `directive @…`
    case directive(DirectiveDefinition)
    /// `extend schema …`
    case schemaExtension(SchemaDefinition)
    /// `extend scalar …`
    case scalarTypeExtension(ScalarTypeDefinition)
    /// `extend type …`
    case objectTypeExtension(ObjectTypeDefinition)
    /// `extend interface …`
    case interfaceTypeExtension(InterfaceTypeDefinition)
    /// `extend union …`
    case unionTypeExtension(UnionTypeDefinition)
    /// `extend enum …`
    case enumTypeExtension(EnumTypeDefinition)
    /// `extend input …`
    case inputObjectTypeExtension(InputObjectTypeDefinition)
}
