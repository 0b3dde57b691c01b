/// A type's definition with its extensions laid over it.
struct TypeDraft {
    var name: String
    var kind: Schema.NamedType.Kind
    var description: String?
    var interfaces: [String] = []
    var fields: [FieldDefinition] = []
    var members: [String] = []
    var values: [EnumValueDefinition] = []
    var inputFields: [InputValueDefinition] = []
    var directives: [Directive]
    var location: SourceLocation
    private var text: StringValue?

    /// The draft of a definition or an extension of a type, `nil` for anything else.
    init?(_ definition: Definition) {
        switch definition {
        case .scalarType(let node), .scalarTypeExtension(let node):
            self.init(.scalar, node.name, node.description, node.directives, node.location)
        case .objectType(let node), .objectTypeExtension(let node):
            self.init(.object, node.name, node.description, node.directives, node.location)
            interfaces = node.interfaces
            fields = node.fields
        case .interfaceType(let node), .interfaceTypeExtension(let node):
            self.init(.interface, node.name, node.description, node.directives, node.location)
            interfaces = node.interfaces
            fields = node.fields
        case .unionType(let node), .unionTypeExtension(let node):
            self.init(.union, node.name, node.description, node.directives, node.location)
            members = node.members
        case .enumType(let node), .enumTypeExtension(let node):
            self.init(.enumeration, node.name, node.description, node.directives, node.location)
            values = node.values
        case .inputObjectType(let node), .inputObjectTypeExtension(let node):
            self.init(.inputObject, node.name, node.description, node.directives, node.location)
            inputFields = node.fields
        case .operation, .fragment, .schema, .schemaExtension, .directive: return nil
        }
    }

    private init(
        _ kind: Schema.NamedType.Kind,
        _ name: String,
        _ text: StringValue?,
        _ directives: [Directive],
        _ location: SourceLocation
    ) {
        self.kind = kind
        self.name = name
        self.text = text
        description = text?.value
        self.directives = directives
        self.location = location
    }

    /// Lays an extension of the same kind over this.
    mutating func extend(with other: TypeDraft) {
        interfaces += other.interfaces
        fields += other.fields
        members += other.members
        values += other.values
        inputFields += other.inputFields
        directives += other.directives
    }

    private var object: ObjectTypeDefinition {
        ObjectTypeDefinition(
            description: text,
            name: name,
            interfaces: interfaces,
            directives: directives,
            fields: fields,
            location: location
        )
    }

    /// The whole as one definition.
    var definition: Definition {
        switch kind {
        case .scalar:
            .scalarType(
                ScalarTypeDefinition(description: text, name: name, directives: directives, location: location)
            )
        case .object: .objectType(object)
        case .interface: .interfaceType(object)
        case .union:
            .unionType(
                UnionTypeDefinition(
                    description: text,
                    name: name,
                    directives: directives,
                    members: members,
                    location: location
                )
            )
        case .enumeration:
            .enumType(
                EnumTypeDefinition(
                    description: text,
                    name: name,
                    directives: directives,
                    values: values,
                    location: location
                )
            )
        case .inputObject:
            .inputObjectType(
                InputObjectTypeDefinition(
                    description: text,
                    name: name,
                    directives: directives,
                    fields: inputFields,
                    location: location
                )
            )
        }
    }
}
