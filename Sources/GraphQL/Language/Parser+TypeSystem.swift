extension Parser {
    /// `TypeSystemDefinition`, or what follows the word `extend`; `false` when the word
    /// begins neither (GraphQL §3).
    mutating func readTypeSystemDefinition(_ definition: Int) throws(SyntaxError) -> Bool {
        let before = nodes.count
        let isExtension = nodes[definition].flags.contains(.isExtension)
        if try takeKeyword("type") {
            try readFields(of: definition, .objectType)
        } else if try takeKeyword("interface") {
            try readFields(of: definition, .interfaceType)
        } else if try takeKeyword("input") {
            try readInput(definition)
        } else if try takeKeyword("enum") {
            try readEnum(definition)
        } else if try takeKeyword("union") {
            try readUnion(definition)
        } else if try takeKeyword("scalar") {
            set(definition, .scalarType)
            try readName(of: definition)
            try readDirectives(isConstant: true)
        } else if try takeKeyword("schema") {
            try readSchema(definition, isExtension: isExtension)
        } else if !isExtension, try takeKeyword("directive") {
            try readDirectiveDefinition(definition)
        } else {
            return false
        }
        // An extension adds something.
        if isExtension, nodes.count == before { throw unexpected() }
        return true
    }

    /// `SchemaDefinition : Description? schema Directives[Const]? {
    /// RootOperationTypeDefinition+ }`.
    private mutating func readSchema(_ schema: Int, isExtension: Bool) throws(SyntaxError) {
        set(schema, .schema)
        try readDirectives(isConstant: true)
        if isExtension, lexer.token != .openBrace { return }
        try expect(.openBrace)
        repeat {
            let rootType = begin(.rootType)
            add(SyntaxNode.Flags(try readOperationKind()), to: rootType)
            try expect(.colon)
            try readName(of: rootType)
            finish(rootType)
        } while try !take(.closeBrace)
    }

    /// `ObjectTypeDefinition : Description? type Name ImplementsInterfaces? Directives[Const]?
    /// FieldsDefinition?`, and the same for `interface`.
    private mutating func readFields(of type: Int, _ kind: SyntaxNode.Kind) throws(SyntaxError) {
        set(type, kind)
        try readName(of: type)
        if try takeKeyword("implements") { try readNames(separatedBy: .ampersand) }
        try readDirectives(isConstant: true)
        guard try take(.openBrace) else { return }
        repeat { try readFieldDefinition() } while try !take(.closeBrace)
    }

    /// `NamedType` once or more, the first with a separator before it or not.
    private mutating func readNames(separatedBy separator: Token) throws(SyntaxError) {
        _ = try take(separator)
        repeat { _ = try readNamedType() } while try take(separator)
    }

    /// `FieldDefinition : Description? Name ArgumentsDefinition? : Type Directives[Const]?`.
    private mutating func readFieldDefinition() throws(SyntaxError) {
        let field = begin(.fieldDefinition)
        try readDescription()
        try readName(of: field)
        try readInputValues(.openParenthesis, .closeParenthesis)
        try expect(.colon)
        try readType()
        try readDirectives(isConstant: true)
        finish(field)
    }

    /// `InputValueDefinition : Description? Name : Type DefaultValue? Directives[Const]?`,
    /// between brackets or not there.
    private mutating func readInputValues(_ open: Token, _ close: Token) throws(SyntaxError) {
        guard try take(open) else { return }
        repeat {
            let value = begin(.inputValueDefinition)
            try readDescription()
            try readName(of: value)
            try expect(.colon)
            try readType()
            if try take(.equals) { try readValue(isConstant: true) }
            try readDirectives(isConstant: true)
            finish(value)
        } while try !take(close)
    }

    /// `UnionTypeDefinition : Description? union Name Directives[Const]? (= |?
    /// NamedType (| NamedType)*)?`.
    private mutating func readUnion(_ union: Int) throws(SyntaxError) {
        set(union, .unionType)
        try readName(of: union)
        try readDirectives(isConstant: true)
        if try take(.equals) { try readNames(separatedBy: .pipe) }
    }

    /// `EnumTypeDefinition : Description? enum Name Directives[Const]? { EnumValueDefinition+ }?`.
    private mutating func readEnum(_ type: Int) throws(SyntaxError) {
        set(type, .enumType)
        try readName(of: type)
        try readDirectives(isConstant: true)
        guard try take(.openBrace) else { return }
        repeat {
            let value = begin(.enumValueDefinition)
            try readDescription()
            if isKeyword("true") || isKeyword("false") || isKeyword("null") {
                let message = "Name \"\(tokenText.string)\" is reserved and cannot be used for an enum value."
                throw lexer.error(message, at: lexer.start)
            }
            try readName(of: value)
            try readDirectives(isConstant: true)
            finish(value)
        } while try !take(.closeBrace)
    }

    /// `InputObjectTypeDefinition : Description? input Name Directives[Const]? {
    /// InputValueDefinition+ }?`.
    private mutating func readInput(_ type: Int) throws(SyntaxError) {
        set(type, .inputObjectType)
        try readName(of: type)
        try readDirectives(isConstant: true)
        try readInputValues(.openBrace, .closeBrace)
    }

    /// `DirectiveDefinition : Description? directive @ Name ArgumentsDefinition?
    /// repeatable? on DirectiveLocations`.
    private mutating func readDirectiveDefinition(_ directive: Int) throws(SyntaxError) {
        set(directive, .directiveDefinition)
        try expect(.at)
        try readName(of: directive)
        try readInputValues(.openParenthesis, .closeParenthesis)
        if try takeKeyword("repeatable") { add(.isRepeatable, to: directive) }
        try expectKeyword("on")
        _ = try take(.pipe)
        repeat { try readDirectiveLocation() } while try take(.pipe)
    }

    /// `DirectiveLocation : ExecutableDirectiveLocation | TypeSystemDirectiveLocation`.
    private mutating func readDirectiveLocation() throws(SyntaxError) {
        let location = DirectiveLocation(rawValue: tokenText.string)
        guard lexer.token != .name || location != nil else { throw unexpected() }
        let name = try readName()
        guard let location else { throw unexpected() }
        add(SyntaxNode.Flags(location), to: begin(.directiveLocation, at: name.lowerBound, text: name))
    }
}
