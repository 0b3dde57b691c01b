extension Parser {
    /// `TypeSystemDefinition`, or `nil` when the keyword begins something else (GraphQL §3).
    mutating func readTypeSystemDefinition(_ description: StringValue?) throws(SyntaxError) -> Definition? {
        switch tokenText {
        case "schema": .schema(try readSchema(description, isExtension: false))
        case "scalar": .scalarType(try readScalar(description, isExtension: false))
        case "type": .objectType(try readObject(description, isExtension: false))
        case "interface": .interfaceType(try readInterface(description, isExtension: false))
        case "union": .unionType(try readUnion(description, isExtension: false))
        case "enum": .enumType(try readEnum(description, isExtension: false))
        case "input": .inputObjectType(try readInput(description, isExtension: false))
        case "directive": .directive(try readDirectiveDefinition(description))
        default: nil
        }
    }

    /// `TypeSystemExtension : extend …`.
    mutating func readExtension() throws(SyntaxError) -> Definition {
        let location = token.location
        try expectKeyword("extend")
        guard token.kind == .name else { throw unexpected() }
        switch tokenText {
        case "schema": return .schemaExtension(try located(readSchema(nil, isExtension: true), \.location, location))
        case "scalar":
            return .scalarTypeExtension(try located(readScalar(nil, isExtension: true), \.location, location))
        case "type": return .objectTypeExtension(try located(readObject(nil, isExtension: true), \.location, location))
        case "interface":
            return .interfaceTypeExtension(try located(readInterface(nil, isExtension: true), \.location, location))
        case "union": return .unionTypeExtension(try located(readUnion(nil, isExtension: true), \.location, location))
        case "enum": return .enumTypeExtension(try located(readEnum(nil, isExtension: true), \.location, location))
        case "input":
            return .inputObjectTypeExtension(try located(readInput(nil, isExtension: true), \.location, location))
        default: throw unexpected()
        }
    }

    /// The node, which begins where its `extend` stands.
    private func located<Node>(
        _ node: Node,
        _ path: WritableKeyPath<Node, SourceLocation>,
        _ location: SourceLocation
    ) -> Node {
        var node = node
        node[keyPath: path] = location
        return node
    }

    /// `SchemaDefinition : Description? schema Directives[Const]? { RootOperationTypeDefinition+ }`.
    private mutating func readSchema(_ text: StringValue?, isExtension: Bool) throws(SyntaxError) -> SchemaDefinition {
        let location = token.location
        try advance()
        let directives = try readDirectives(isConstant: true)
        let read = { (parser: inout Parser) throws(SyntaxError) -> RootTypeDefinition in
            let location = parser.token.location
            let start = parser.token.start
            let kind = try parser.readOperationKind()
            try parser.expect(.colon)
            let type = try parser.readNamedType()
            parser.record(from: start)
            return RootTypeDefinition(kind: kind, type: type, location: location)
        }
        let rootTypes =
            isExtension ? try optionalMany(.openBrace, .closeBrace, read) : try many(.openBrace, .closeBrace, read)
        if isExtension, directives.isEmpty, rootTypes.isEmpty { throw unexpected() }
        return SchemaDefinition(description: text, directives: directives, rootTypes: rootTypes, location: location)
    }

    /// `ScalarTypeDefinition : Description? scalar Name Directives[Const]?`.
    private mutating func readScalar(
        _ text: StringValue?,
        isExtension: Bool
    ) throws(SyntaxError) -> ScalarTypeDefinition {
        let location = token.location
        try advance()
        let name = try readName()
        let directives = try readDirectives(isConstant: true)
        if isExtension, directives.isEmpty { throw unexpected() }
        return ScalarTypeDefinition(description: text, name: name, directives: directives, location: location)
    }

    /// `ObjectTypeDefinition : Description? type Name ImplementsInterfaces? Directives[Const]? FieldsDefinition?`.
    private mutating func readObject(
        _ text: StringValue?,
        isExtension: Bool
    ) throws(SyntaxError) -> ObjectTypeDefinition {
        let location = token.location
        try advance()
        let node = ObjectTypeDefinition(
            description: text,
            name: try readName(),
            interfaces: try readInterfaces(),
            directives: try readDirectives(isConstant: true),
            fields: try readFieldDefinitions(),
            location: location
        )
        if isExtension, node.interfaces.isEmpty, node.directives.isEmpty, node.fields.isEmpty { throw unexpected() }
        return node
    }

    /// `InterfaceTypeDefinition : Description? interface Name ImplementsInterfaces? Directives[Const]? FieldsDefinition?`.
    private mutating func readInterface(
        _ text: StringValue?,
        isExtension: Bool
    ) throws(SyntaxError) -> InterfaceTypeDefinition {
        let object = try readObject(text, isExtension: isExtension)
        return InterfaceTypeDefinition(
            description: object.description,
            name: object.name,
            interfaces: object.interfaces,
            directives: object.directives,
            fields: object.fields,
            location: object.location
        )
    }

    /// `ImplementsInterfaces : implements &? NamedType (& NamedType)*`.
    private mutating func readInterfaces() throws(SyntaxError) -> [String] {
        guard try takeKeyword("implements") else { return [] }
        return try readNames(separatedBy: .ampersand)
    }

    private mutating func readNames(separatedBy separator: Token.Kind) throws(SyntaxError) -> [String] {
        _ = try take(separator)
        var names: [String] = []
        repeat { names.append(try readNamedType()) } while try take(separator)
        return names
    }

    /// `FieldsDefinition : { FieldDefinition+ }`.
    private mutating func readFieldDefinitions() throws(SyntaxError) -> [FieldDefinition] {
        try optionalMany(.openBrace, .closeBrace) { (parser) throws(SyntaxError) in
            let start = parser.token.start
            defer { parser.record(from: start) }
            let description = try parser.readDescription()
            let location = parser.token.location
            let name = try parser.readName()
            let arguments = try parser.readInputValues(.openParenthesis, .closeParenthesis)
            try parser.expect(.colon)
            return FieldDefinition(
                description: description,
                name: name,
                arguments: arguments,
                type: try parser.readType(),
                directives: try parser.readDirectives(isConstant: true),
                location: location
            )
        }
    }

    /// `InputValueDefinition : Description? Name : Type DefaultValue? Directives[Const]?`, between brackets.
    private mutating func readInputValues(
        _ open: Token.Kind,
        _ close: Token.Kind
    ) throws(SyntaxError) -> [InputValueDefinition] {
        try optionalMany(open, close) { (parser) throws(SyntaxError) in
            let start = parser.token.start
            defer { parser.record(from: start) }
            let description = try parser.readDescription()
            let location = parser.token.location
            let name = try parser.readName()
            try parser.expect(.colon)
            return InputValueDefinition(
                description: description,
                name: name,
                type: try parser.readType(),
                defaultValue: try parser.take(.equals) ? try parser.readValue(isConstant: true) : nil,
                directives: try parser.readDirectives(isConstant: true),
                location: location
            )
        }
    }

    /// `UnionTypeDefinition : Description? union Name Directives[Const]? (= |? NamedType (| NamedType)*)?`.
    private mutating func readUnion(_ text: StringValue?, isExtension: Bool) throws(SyntaxError) -> UnionTypeDefinition
    {
        let location = token.location
        try advance()
        let name = try readName()
        let directives = try readDirectives(isConstant: true)
        let members = try take(.equals) ? try readNames(separatedBy: .pipe) : []
        if isExtension, directives.isEmpty, members.isEmpty { throw unexpected() }
        return UnionTypeDefinition(
            description: text,
            name: name,
            directives: directives,
            members: members,
            location: location
        )
    }

    /// `EnumTypeDefinition : Description? enum Name Directives[Const]? { EnumValueDefinition+ }?`.
    private mutating func readEnum(_ text: StringValue?, isExtension: Bool) throws(SyntaxError) -> EnumTypeDefinition {
        let location = token.location
        try advance()
        let name = try readName()
        let directives = try readDirectives(isConstant: true)
        let values = try optionalMany(.openBrace, .closeBrace) { (parser) throws(SyntaxError) in
            let start = parser.token.start
            defer { parser.record(from: start) }
            let description = try parser.readDescription()
            let location = parser.token.location
            if let word = ["true", "false", "null"].first(where: { $0 == parser.tokenText }) {
                throw SyntaxError("Name \"\(word)\" is reserved and cannot be used for an enum value.", at: location)
            }
            return EnumValueDefinition(
                description: description,
                name: try parser.readName(),
                directives: try parser.readDirectives(isConstant: true),
                location: location
            )
        }
        if isExtension, directives.isEmpty, values.isEmpty { throw unexpected() }
        return EnumTypeDefinition(
            description: text,
            name: name,
            directives: directives,
            values: values,
            location: location
        )
    }

    /// `InputObjectTypeDefinition : Description? input Name Directives[Const]? { InputValueDefinition+ }?`.
    private mutating func readInput(
        _ text: StringValue?,
        isExtension: Bool
    ) throws(SyntaxError) -> InputObjectTypeDefinition {
        let location = token.location
        try advance()
        let node = InputObjectTypeDefinition(
            description: text,
            name: try readName(),
            directives: try readDirectives(isConstant: true),
            fields: try readInputValues(.openBrace, .closeBrace),
            location: location
        )
        if isExtension, node.directives.isEmpty, node.fields.isEmpty { throw unexpected() }
        return node
    }

    /// `DirectiveDefinition : Description? directive @ Name ArgumentsDefinition? repeatable? on DirectiveLocations`.
    private mutating func readDirectiveDefinition(_ text: StringValue?) throws(SyntaxError) -> DirectiveDefinition {
        let location = token.location
        try advance()
        try expect(.at)
        let name = try readName()
        let arguments = try readInputValues(.openParenthesis, .closeParenthesis)
        let isRepeatable = try takeKeyword("repeatable")
        try expectKeyword("on")
        _ = try take(.pipe)
        var locations: [DirectiveLocation] = []
        repeat { locations.append(try readDirectiveLocation()) } while try take(.pipe)
        return DirectiveDefinition(
            description: text,
            name: name,
            arguments: arguments,
            isRepeatable: isRepeatable,
            locations: locations,
            location: location
        )
    }

    /// `DirectiveLocation : ExecutableDirectiveLocation | TypeSystemDirectiveLocation`.
    private mutating func readDirectiveLocation() throws(SyntaxError) -> DirectiveLocation {
        let location = DirectiveLocation(rawValue: tokenText)
        guard token.kind != .name || location != nil else { throw unexpected() }
        let start = token.start
        try expect(.name)
        record(from: start)
        guard let location else { throw unexpected() }
        return location
    }
}
