// Definitions of the type system; an extension's node differs by its kind alone.
extension TreeWriter {
    mutating func typeSystemDefinition(_ definition: Definition) {
        switch definition {
        case .schema(let node): schema("SchemaDefinition", node)
        case .schemaExtension(let node): schema("SchemaExtension", node)
        case .scalarType(let node): scalar("ScalarTypeDefinition", node)
        case .scalarTypeExtension(let node): scalar("ScalarTypeExtension", node)
        case .objectType(let node): object("ObjectTypeDefinition", node)
        case .objectTypeExtension(let node): object("ObjectTypeExtension", node)
        case .interfaceType(let node): interface("InterfaceTypeDefinition", node)
        case .interfaceTypeExtension(let node): interface("InterfaceTypeExtension", node)
        case .unionType(let node): union("UnionTypeDefinition", node)
        case .unionTypeExtension(let node): union("UnionTypeExtension", node)
        case .enumType(let node): enumeration("EnumTypeDefinition", node)
        case .enumTypeExtension(let node): enumeration("EnumTypeExtension", node)
        case .inputObjectType(let node): inputObject("InputObjectTypeDefinition", node)
        case .inputObjectTypeExtension(let node): inputObject("InputObjectTypeExtension", node)
        case .directive(let node): directive(node)
        case .operation, .fragment: break
        }
    }

    private mutating func schema(_ kind: StaticString, _ schema: SchemaDefinition) {
        node(kind) { tree in
            tree.description(schema.description)
            tree.directives(schema.directives)
            tree.list("operationTypes", schema.rootTypes) { tree, root in
                tree.node("OperationTypeDefinition") { tree in
                    tree.text("operation", root.kind.rawValue)
                    tree.namedType(root.type, as: "type")
                }
            }
        }
    }

    private mutating func scalar(_ kind: StaticString, _ scalar: ScalarTypeDefinition) {
        node(kind) { tree in
            tree.description(scalar.description)
            tree.name(scalar.name)
            tree.directives(scalar.directives)
        }
    }

    private mutating func object(_ kind: StaticString, _ object: ObjectTypeDefinition) {
        node(kind) { tree in
            tree.description(object.description)
            tree.name(object.name)
            tree.list("interfaces", object.interfaces) { tree, name in tree.namedTypeNode(name) }
            tree.directives(object.directives)
            tree.fields(object.fields)
        }
    }

    private mutating func interface(_ kind: StaticString, _ interface: InterfaceTypeDefinition) {
        node(kind) { tree in
            tree.description(interface.description)
            tree.name(interface.name)
            tree.list("interfaces", interface.interfaces) { tree, name in tree.namedTypeNode(name) }
            tree.directives(interface.directives)
            tree.fields(interface.fields)
        }
    }

    private mutating func fields(_ fields: [FieldDefinition]) {
        list("fields", fields) { tree, field in
            tree.node("FieldDefinition") { tree in
                tree.description(field.description)
                tree.name(field.name)
                tree.inputValues("arguments", field.arguments)
                tree.type(field.type)
                tree.directives(field.directives)
            }
        }
    }

    private mutating func inputValues(_ member: StaticString, _ values: [InputValueDefinition]) {
        list(member, values) { tree, value in
            tree.node("InputValueDefinition") { tree in
                tree.description(value.description)
                tree.name(value.name)
                tree.type(value.type)
                tree.value(value.defaultValue, as: "defaultValue")
                tree.directives(value.directives)
            }
        }
    }

    private mutating func union(_ kind: StaticString, _ union: UnionTypeDefinition) {
        node(kind) { tree in
            tree.description(union.description)
            tree.name(union.name)
            tree.directives(union.directives)
            tree.list("types", union.members) { tree, name in tree.namedTypeNode(name) }
        }
    }

    private mutating func enumeration(_ kind: StaticString, _ enumeration: EnumTypeDefinition) {
        node(kind) { tree in
            tree.description(enumeration.description)
            tree.name(enumeration.name)
            tree.directives(enumeration.directives)
            tree.list("values", enumeration.values) { tree, value in
                tree.node("EnumValueDefinition") { tree in
                    tree.description(value.description)
                    tree.name(value.name)
                    tree.directives(value.directives)
                }
            }
        }
    }

    private mutating func inputObject(_ kind: StaticString, _ object: InputObjectTypeDefinition) {
        node(kind) { tree in
            tree.description(object.description)
            tree.name(object.name)
            tree.directives(object.directives)
            tree.inputValues("fields", object.fields)
        }
    }

    private mutating func directive(_ directive: DirectiveDefinition) {
        node("DirectiveDefinition") { tree in
            tree.description(directive.description)
            tree.name(directive.name)
            tree.inputValues("arguments", directive.arguments)
            tree.flag("repeatable", directive.isRepeatable)
            tree.list("locations", directive.locations) { tree, location in tree.nameNode(location.rawValue) }
        }
    }
}
