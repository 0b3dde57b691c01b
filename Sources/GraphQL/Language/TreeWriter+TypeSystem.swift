// Definitions of the type system; an extension's node differs by its kind alone.
extension TreeWriter {
    mutating func typeSystemDefinition(_ definition: NodeView) {
        let isExtension = definition.flags.contains(.isExtension)
        switch definition.kind {
        case .schema: schema(isExtension ? "SchemaExtension" : "SchemaDefinition", definition)
        case .scalarType: type(isExtension ? "ScalarTypeExtension" : "ScalarTypeDefinition", definition) { _ in }
        case .objectType: fields(isExtension ? "ObjectTypeExtension" : "ObjectTypeDefinition", definition)
        case .interfaceType: fields(isExtension ? "InterfaceTypeExtension" : "InterfaceTypeDefinition", definition)
        case .unionType:
            type(isExtension ? "UnionTypeExtension" : "UnionTypeDefinition", definition) { tree in
                tree.list("types", definition.children(.namedType)) { tree, type in tree.namedTypeNode(type) }
            }
        case .enumType:
            type(isExtension ? "EnumTypeExtension" : "EnumTypeDefinition", definition) { tree in tree.values(definition)
            }
        case .inputObjectType:
            type(isExtension ? "InputObjectTypeExtension" : "InputObjectTypeDefinition", definition) { tree in
                tree.inputValues("fields", definition)
            }
        default: directive(definition)
        }
    }

    private mutating func schema(_ kind: StaticString, _ schema: NodeView) {
        node(kind, schema) { tree in
            tree.description(schema)
            tree.directives(schema)
            tree.list("operationTypes", schema.children(.rootType)) { tree, root in
                tree.node("OperationTypeDefinition", root) { tree in
                    tree.text("operation", root.flags.operationKind.rawValue)
                    tree.namedType(root, as: "type")
                }
            }
        }
    }

    /// What most types have in common, then what the kind has of its own.
    private mutating func type(_ kind: StaticString, _ type: NodeView, _ members: (inout TreeWriter) -> Void) {
        node(kind, type) { tree in
            tree.description(type)
            tree.name(type)
            tree.directives(type)
            members(&tree)
        }
    }

    private mutating func fields(_ kind: StaticString, _ type: NodeView) {
        node(kind, type) { tree in
            tree.description(type)
            tree.name(type)
            tree.list("interfaces", type.children(.namedType)) { tree, name in tree.namedTypeNode(name) }
            tree.directives(type)
            tree.list("fields", type.children(.fieldDefinition)) { tree, field in
                tree.node("FieldDefinition", field) { tree in
                    tree.description(field)
                    tree.name(field)
                    tree.inputValues("arguments", field)
                    tree.type(field)
                    tree.directives(field)
                }
            }
        }
    }

    private mutating func inputValues(_ member: StaticString, _ node: NodeView) {
        list(member, node.children(.inputValueDefinition)) { tree, value in
            tree.node("InputValueDefinition", value) { tree in
                tree.description(value)
                tree.name(value)
                tree.type(value)
                tree.defaultValue(value)
                tree.directives(value)
            }
        }
    }

    private mutating func values(_ type: NodeView) {
        list("values", type.children(.enumValueDefinition)) { tree, value in
            tree.node("EnumValueDefinition", value) { tree in
                tree.description(value)
                tree.name(value)
                tree.directives(value)
            }
        }
    }

    private mutating func directive(_ directive: NodeView) {
        node("DirectiveDefinition", directive) { tree in
            tree.description(directive)
            tree.name(directive)
            tree.inputValues("arguments", directive)
            tree.flag("repeatable", directive.flags.contains(.isRepeatable))
            tree.list("locations", directive.children(.directiveLocation)) { tree, location in
                tree.nameNode(location.text, at: location.start)
            }
        }
    }
}
