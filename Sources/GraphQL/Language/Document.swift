/// What was written in one text: operations and fragments, or the definitions of a type system.
///
/// The text and its flat syntax tree. Validation and planning read the tree; the definitions as
/// values are made when they are asked for.
public struct Document: Sendable {
    let tree: SyntaxTree

    /// The definitions in the order they were written; made anew each time.
    public var definitions: [Definition] {
        tree.withRoot { root in
            var builder = NodeBuilder(root.bytes)
            return root.children.map { builder.definition($0) }
        }
    }

    /// The operations in order; made anew each time.
    public var operations: [OperationDefinition] {
        tree.withRoot { root in
            var builder = NodeBuilder(root.bytes)
            return root.children(.operation).map { builder.operation($0) }
        }
    }

    /// The fragments in order; made anew each time.
    public var fragments: [FragmentDefinition] {
        tree.withRoot { root in
            var builder = NodeBuilder(root.bytes)
            return root.children(.fragmentDefinition).map { builder.fragment($0) }
        }
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
