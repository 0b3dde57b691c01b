extension Parser {
    /// `Arguments[Const] : ( Argument[?Const]+ )`.
    mutating func readArguments(isConstant: Bool) throws(SyntaxError) -> [ArgumentNode] {
        try optionalMany(.openParenthesis, .closeParenthesis) { (parser) throws(SyntaxError) in
            let location = parser.token.location
            let start = parser.token.start
            defer { parser.record(from: start) }
            let name = try parser.readName()
            try parser.expect(.colon)
            return ArgumentNode(name: name, value: try parser.readValue(isConstant: isConstant), location: location)
        }
    }

    /// `Directives[Const] : Directive[?Const]+`.
    mutating func readDirectives(isConstant: Bool) throws(SyntaxError) -> [Directive] {
        var directives: [Directive] = []
        while token.kind == .at {
            let location = token.location
            let start = token.start
            try advance()
            let name = try readName()
            let arguments = try readArguments(isConstant: isConstant)
            record(from: start)
            directives.append(Directive(name: name, arguments: arguments, location: location))
        }
        return directives
    }

    /// `Value[Const]`, GraphQL §2.10.
    mutating func readValue(isConstant: Bool) throws(SyntaxError) -> Value {
        let location = token.location
        let start = token.start
        let kind: Value.Kind
        switch token.kind {
        case .string, .blockString:
            let text = try readDescription() ?? StringValue(value: "", isBlock: false)
            return Value(kind: .string(text), location: location)
        case .openBracket, .openBrace:
            kind = try nested { (parser) throws(SyntaxError) in try parser.readCollection(isConstant: isConstant) }
        case .int: kind = .int(try readText())
        case .float: kind = .float(try readText())
        case .name: kind = Self.named(try readText())
        case .dollar: kind = try readVariable(isConstant: isConstant)
        default: throw unexpected()
        }
        record(from: start)
        return Value(kind: kind, location: location)
    }

    private mutating func readText() throws(SyntaxError) -> String {
        let text = tokenText
        try advance()
        return text
    }

    /// `BooleanValue`, `NullValue` or `EnumValue`.
    private static func named(_ name: String) -> Value.Kind {
        switch name {
        case "true": .boolean(true)
        case "false": .boolean(false)
        case "null": .null
        default: .enumeration(name)
        }
    }

    /// `Variable : $ Name`.
    private mutating func readVariable(isConstant: Bool) throws(SyntaxError) -> Value.Kind {
        let location = token.location
        try advance()
        let name = try readName()
        if isConstant { throw SyntaxError("Unexpected variable \"$\(name)\" in constant value.", at: location) }
        return .variable(name)
    }

    /// `ListValue : [ Value* ]`, `ObjectValue : { ObjectField* }`.
    private mutating func readCollection(isConstant: Bool) throws(SyntaxError) -> Value.Kind {
        if try take(.openBracket) {
            var values: [Value] = []
            while try !take(.closeBracket) { values.append(try readValue(isConstant: isConstant)) }
            return .list(values)
        }
        try expect(.openBrace)
        var fields: [ObjectField] = []
        while try !take(.closeBrace) {
            let location = token.location
            let start = token.start
            let name = try readName()
            try expect(.colon)
            fields.append(
                ObjectField(name: name, value: try readValue(isConstant: isConstant), location: location)
            )
            record(from: start)
        }
        return .object(fields)
    }

    /// `Type : NamedType | ListType | NonNullType`.
    mutating func readType() throws(SyntaxError) -> TypeReference {
        try readLocatedType().type
    }

    /// A type and where the name inside it stands.
    mutating func readLocatedType() throws(SyntaxError) -> (type: TypeReference, location: SourceLocation) {
        var location = token.location
        let start = token.start
        var type: TypeReference
        if token.kind == .openBracket {
            let inner = try nested { (parser) throws(SyntaxError) in
                try parser.advance()
                return try parser.readLocatedType()
            }
            try expect(.closeBracket)
            record(from: start)
            type = .list(inner.type)
            location = inner.location
        } else {
            type = .named(try readNamedType())
        }
        if try take(.bang) {
            record(from: start)
            type = .nonNull(type)
        }
        return (type, location)
    }
}
