extension Printer {
    static func typeSystemDefinition(_ definition: Definition) -> String {
        switch definition {
        case .operation, .fragment: self.definition(definition)
        case .schema(let node): schema(node)
        case .scalarType(let node): scalar(node)
        case .objectType(let node): object("type", node)
        case .interfaceType(let node): object("interface", node)
        case .unionType(let node): union(node)
        case .enumType(let node): enumeration(node)
        case .inputObjectType(let node): input(node)
        case .directive(let node): directiveDefinition(node)
        case .schemaExtension(let node): "extend " + schema(node)
        case .scalarTypeExtension(let node): "extend " + scalar(node)
        case .objectTypeExtension(let node): "extend " + object("type", node)
        case .interfaceTypeExtension(let node): "extend " + object("interface", node)
        case .unionTypeExtension(let node): "extend " + union(node)
        case .enumTypeExtension(let node): "extend " + enumeration(node)
        case .inputObjectTypeExtension(let node): "extend " + input(node)
        }
    }

    private static func schema(_ node: SchemaDefinition) -> String {
        let rootTypes = PrintedText.block(node.rootTypes.map { "\($0.kind.rawValue): \($0.type)" })
        return line(node.description, ["schema", directives(node.directives), rootTypes])
    }

    private static func scalar(_ node: ScalarTypeDefinition) -> String {
        line(node.description, ["scalar", node.name, directives(node.directives)])
    }

    /// An object type or an interface, by its keyword.
    private static func object(_ keyword: String, _ node: ObjectTypeDefinition) -> String {
        let interfaces = PrintedText.wrap("implements ", PrintedText.join(node.interfaces, " & "))
        let fields = PrintedText.block(node.fields.map(field))
        return line(node.description, [keyword, node.name, interfaces, directives(node.directives), fields])
    }

    private static func union(_ node: UnionTypeDefinition) -> String {
        let members = PrintedText.wrap("= ", PrintedText.join(node.members, " | "))
        return line(node.description, ["union", node.name, directives(node.directives), members])
    }

    private static func enumeration(_ node: EnumTypeDefinition) -> String {
        let values = node.values.map { line($0.description, [$0.name, directives($0.directives)]) }
        return line(node.description, ["enum", node.name, directives(node.directives), PrintedText.block(values)])
    }

    private static func input(_ node: InputObjectTypeDefinition) -> String {
        let fields = PrintedText.block(node.fields.map(inputValue))
        return line(node.description, ["input", node.name, directives(node.directives), fields])
    }

    private static func directiveDefinition(_ node: DirectiveDefinition) -> String {
        description(node.description) + "directive @\(node.name)"
            + PrintedText.arguments(node.arguments.map(inputValue)) + (node.isRepeatable ? " repeatable" : "")
            + " on " + node.locations.map(\.rawValue).joined(separator: " | ")
    }

    private static func field(_ node: FieldDefinition) -> String {
        description(node.description) + node.name + PrintedText.arguments(node.arguments.map(inputValue))
            + ": \(node.type)" + PrintedText.wrap(" ", directives(node.directives))
    }

    private static func inputValue(_ node: InputValueDefinition) -> String {
        let defaultValue = PrintedText.wrap("= ", node.defaultValue.map(value) ?? "")
        return line(node.description, ["\(node.name): \(node.type)", defaultValue, directives(node.directives)])
    }

    private static func line(_ text: StringValue?, _ parts: [String]) -> String {
        description(text) + PrintedText.join(parts, " ")
    }
}
