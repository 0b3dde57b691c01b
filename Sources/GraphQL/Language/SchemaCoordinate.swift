/// The name of one element of a schema, for tools and messages (GraphQL §3.14).
///
/// Written without white space: `Topic`, `Topic.messages`, `Topic.messages(limit:)`, `@skip`, `@skip(if:)`.
public enum SchemaCoordinate: Sendable, Hashable, CustomStringConvertible {
    /// `Name`
    case type(String)
    /// `Name.member`: a field, an input field or an enum value.
    case member(type: String, name: String)
    /// `Name.field(argument:)`
    case argument(type: String, field: String, name: String)
    /// `@name`
    case directive(String)
    /// `@name(argument:)`
    case directiveArgument(directive: String, name: String)

    /// Reads a coordinate.
    ///
    /// Throws what was expected and found, with its location, for any other text.
    public init(_ text: String) throws(SyntaxError) {
        let bytes = Array(text.utf8)
        self = try bytes.withUnsafeBufferPointer { (bytes) throws(SyntaxError) -> SchemaCoordinate in
            var reader = CoordinateReader(lexer: Lexer(bytes: bytes, maximumTokens: 0))
            return try reader.readCoordinate()
        }
    }

    /// The coordinate as it is written.
    public var description: String {
        switch self {
        case .type(let name): name
        case .member(let type, let name): "\(type).\(name)"
        case .argument(let type, let field, let name): "\(type).\(field)(\(name):)"
        case .directive(let name): "@\(name)"
        case .directiveArgument(let directive, let name): "@\(directive)(\(name):)"
        }
    }
}

/// Reads the productions of a coordinate, between whose parts nothing may stand.
private struct CoordinateReader {
    let lexer: Lexer
    private var position = 0

    init(lexer: Lexer) {
        self.lexer = lexer
    }

    /// `SchemaCoordinate : TypeCoordinate | MemberCoordinate | ArgumentCoordinate | DirectiveCoordinate |
    /// DirectiveArgumentCoordinate`.
    mutating func readCoordinate() throws(SyntaxError) -> SchemaCoordinate {
        let coordinate = take("@") ? try readDirective() : try readType()
        if position < lexer.bytes.count { throw expected("<EOF>") }
        return coordinate
    }

    private mutating func readDirective() throws(SyntaxError) -> SchemaCoordinate {
        let directive = try readName()
        guard let argument = try readArgument() else { return .directive(directive) }
        return .directiveArgument(directive: directive, name: argument)
    }

    private mutating func readType() throws(SyntaxError) -> SchemaCoordinate {
        let type = try readName()
        guard take(".") else { return .type(type) }
        let member = try readName()
        guard let argument = try readArgument() else { return .member(type: type, name: member) }
        return .argument(type: type, field: member, name: argument)
    }

    /// `( Name : )`, or nothing.
    private mutating func readArgument() throws(SyntaxError) -> String? {
        guard take("(") else { return nil }
        let name = try readName()
        guard take(":") else { throw expected("\":\"") }
        guard take(")") else { throw expected("\")\"") }
        return name
    }

    private mutating func take(_ punctuator: Unicode.Scalar) -> Bool {
        guard lexer.peek(position) == UInt8(ascii: punctuator) else { return false }
        position += 1
        return true
    }

    /// `Name`, which no digit begins.
    private mutating func readName() throws(SyntaxError) -> String {
        let end = lexer.bytes.endOfName(from: position)
        guard end > position, lexer.peek(position).map(Lexer.isDigit) == false else { throw expected("Name") }
        defer { position = end }
        return lexer.text(position..<end)
    }

    private func expected(_ what: String) -> SyntaxError {
        lexer.error("Expected \(what), found \(lexer.characterDescription(at: position)).", at: position)
    }
}
