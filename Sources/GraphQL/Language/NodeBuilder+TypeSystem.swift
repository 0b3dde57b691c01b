extension NodeBuilder {
    /// A definition of the type system, or its extension.
    mutating func typeSystemDefinition(_ node: NodeView) -> Definition {
        let isExtension = node.flags.contains(.isExtension)
        switch node.kind {
        case .scalarType: return isExtension ? .scalarTypeExtension(scalar(node)) : .scalarType(scalar(node))
        case .objectType: return isExtension ? .objectTypeExtension(object(node)) : .objectType(object(node))
        case .interfaceType:
            return isExtension ? .interfaceTypeExtension(object(node)) : .interfaceType(object(node))
        case .unionType: return isExtension ? .unionTypeExtension(union(node)) : .unionType(union(node))
        case .enumType: return isExtension ? .enumTypeExtension(enumeration(node)) : .enumType(enumeration(node))
        case .inputObjectType:
            return isExtension ? .inputObjectTypeExtension(input(node)) : .inputObjectType(input(node))
        case .directiveDefinition: return .directive(directive(node))
        default: return isExtension ? .schemaExtension(schema(node)) : .schema(schema(node))
        }
    }

    private mutating func schema(_ node: NodeView) -> SchemaDefinition {
        SchemaDefinition(
            description: description(node),
            directives: directives(node),
            rootTypes: node.children(.rootType).map { rootType in
                RootTypeDefinition(
                    kind: rootType.flags.operationKind,
                    type: rootType.name,
                    location: location(rootType.start)
                )
            },
            location: location(node.bodyStart)
        )
    }

    private mutating func scalar(_ node: NodeView) -> ScalarTypeDefinition {
        ScalarTypeDefinition(
            description: description(node),
            name: node.name,
            directives: directives(node),
            location: location(node.bodyStart)
        )
    }

    private mutating func object(_ node: NodeView) -> ObjectTypeDefinition {
        ObjectTypeDefinition(
            description: description(node),
            name: node.name,
            interfaces: node.children(.namedType).map(\.name),
            directives: directives(node),
            fields: fields(node),
            location: location(node.bodyStart)
        )
    }

    private mutating func fields(_ node: NodeView) -> [FieldDefinition] {
        node.children(.fieldDefinition).map { field in
            FieldDefinition(
                description: description(field),
                name: field.name,
                arguments: inputValues(field),
                type: field.typeNode.typeReference,
                directives: directives(field),
                location: location(field.bodyStart)
            )
        }
    }

    private mutating func inputValues(_ node: NodeView) -> [InputValueDefinition] {
        node.children(.inputValueDefinition).map { input in
            InputValueDefinition(
                description: description(input),
                name: input.name,
                type: input.typeNode.typeReference,
                defaultValue: input.defaultValue.map { value($0) },
                directives: directives(input),
                location: location(input.bodyStart)
            )
        }
    }

    private mutating func union(_ node: NodeView) -> UnionTypeDefinition {
        UnionTypeDefinition(
            description: description(node),
            name: node.name,
            directives: directives(node),
            members: node.children(.namedType).map(\.name),
            location: location(node.bodyStart)
        )
    }

    private mutating func enumeration(_ node: NodeView) -> EnumTypeDefinition {
        EnumTypeDefinition(
            description: description(node),
            name: node.name,
            directives: directives(node),
            values: node.children(.enumValueDefinition).map { value in
                EnumValueDefinition(
                    description: description(value),
                    name: value.name,
                    directives: directives(value),
                    location: location(value.bodyStart)
                )
            },
            location: location(node.bodyStart)
        )
    }

    private mutating func input(_ node: NodeView) -> InputObjectTypeDefinition {
        InputObjectTypeDefinition(
            description: description(node),
            name: node.name,
            directives: directives(node),
            fields: inputValues(node),
            location: location(node.bodyStart)
        )
    }

    private mutating func directive(_ node: NodeView) -> DirectiveDefinition {
        DirectiveDefinition(
            description: description(node),
            name: node.name,
            arguments: inputValues(node),
            isRepeatable: node.flags.contains(.isRepeatable),
            locations: node.children(.directiveLocation).map(\.flags.directiveLocation),
            location: location(node.bodyStart)
        )
    }
}
