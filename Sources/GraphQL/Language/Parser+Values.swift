extension Parser {
    /// `Arguments[Const] : ( Argument[?Const]+ )`, or nothing.
    mutating func readArguments(isConstant: Bool) throws(SyntaxError) {
        guard try take(.openParenthesis) else { return }
        repeat {
            let argument = begin(.argument)
            try readName(of: argument)
            try expect(.colon)
            try readValue(isConstant: isConstant)
            finish(argument)
        } while try !take(.closeParenthesis)
    }

    /// `Directives[Const] : Directive[?Const]+`, or nothing.
    mutating func readDirectives(isConstant: Bool) throws(SyntaxError) {
        while lexer.token == .at {
            let directive = begin(.directive)
            try lexer.advance()
            try readName(of: directive)
            try readArguments(isConstant: isConstant)
            finish(directive)
        }
    }

    /// `Value[Const]`, GraphQL §2.10.
    mutating func readValue(isConstant: Bool) throws(SyntaxError) {
        switch lexer.token {
        case .name: try readNamedValue()
        case .dollar: try readVariable(isConstant: isConstant)
        case .int: try readDigits(.int)
        case .float: try readDigits(.float)
        case .string, .blockString: try readString(.string)
        case .openBrace: try readObject(isConstant: isConstant)
        case .openBracket: try readList(isConstant: isConstant)
        default: throw unexpected()
        }
    }

    /// `StringValue`, as a value or a description.
    mutating func readString(_ kind: SyntaxNode.Kind) throws(SyntaxError) {
        let isBlock = lexer.token == .blockString
        let quotes = isBlock ? 3 : 1
        let node = begin(kind, at: lexer.start, text: lexer.start + quotes..<lexer.end - quotes)
        if isBlock {
            add(.isBlock, to: node)
        } else if lexer.hasEscapes {
            add(.hasEscapes, to: node)
        }
        try lexer.advance()
        finish(node)
    }

    /// `IntValue` or `FloatValue`.
    private mutating func readDigits(_ kind: SyntaxNode.Kind) throws(SyntaxError) {
        _ = begin(kind, at: lexer.start, text: lexer.start..<lexer.end)
        try lexer.advance()
    }

    /// `BooleanValue`, `NullValue` or `EnumValue`.
    private mutating func readNamedValue() throws(SyntaxError) {
        let text = tokenText
        let isTrue = text == "true"
        let isBoolean = isTrue || text == "false"
        let kind: SyntaxNode.Kind = isBoolean ? .boolean : text == "null" ? .null : .enumeration
        let node = begin(kind, at: lexer.start, text: lexer.start..<lexer.end)
        if isTrue { add(.isTrue, to: node) }
        try lexer.advance()
    }

    /// `Variable : $ Name`.
    private mutating func readVariable(isConstant: Bool) throws(SyntaxError) {
        let (variable, start) = (begin(.variable), lexer.start)
        try lexer.advance()
        if isConstant, lexer.token != .name { throw lexer.error("Unexpected \"$\".", at: start) }
        let name = try readName()
        if isConstant {
            throw lexer.error("Unexpected variable \"$\(lexer.text(name))\" in constant value.", at: start)
        }
        setText(name, of: variable)
        finish(variable)
    }

    /// `ListValue[Const] : [ Value[?Const]* ]`.
    private mutating func readList(isConstant: Bool) throws(SyntaxError) {
        let list = begin(.list)
        try nest()
        try lexer.advance()
        while try !take(.closeBracket) { try readValue(isConstant: isConstant) }
        unnest()
        finish(list)
    }

    /// `ObjectValue[Const] : { ObjectField[?Const]* }`.
    private mutating func readObject(isConstant: Bool) throws(SyntaxError) {
        let object = begin(.object)
        try nest()
        try lexer.advance()
        while try !take(.closeBrace) {
            let field = begin(.objectField)
            try readName(of: field)
            try expect(.colon)
            try readValue(isConstant: isConstant)
            finish(field)
        }
        unnest()
        finish(object)
    }

    /// `Type : NamedType | ListType | NonNullType`.
    mutating func readType() throws(SyntaxError) {
        guard lexer.token == .openBracket else {
            let type = try readNamedType()
            return try readNonNullMark(of: type)
        }
        let list = begin(.listType)
        try nest()
        try lexer.advance()
        try readType()
        unnest()
        try expect(.closeBracket)
        finish(list)
        try readNonNullMark(of: list)
    }

    private mutating func readNonNullMark(of type: Int) throws(SyntaxError) {
        guard try take(.bang) else { return }
        add(.isNonNull, to: type)
        finish(type)
    }

    /// `NamedType : Name`.
    mutating func readNamedType() throws(SyntaxError) -> Int {
        let name = try readName()
        return begin(.namedType, at: name.lowerBound, text: name)
    }
}
