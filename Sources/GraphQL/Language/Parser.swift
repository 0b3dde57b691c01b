/// Reads a document, executable or type system, from text (GraphQL §2).
public func parse(_ source: String, limits: ParseLimits = .standard) throws(SyntaxError) -> Document {
    var source = source
    // One copy into contiguous storage at most; the typed error cannot pass through `withUTF8`.
    let outcome = source.withUTF8 { bytes in
        Result { () throws(SyntaxError) -> Document in try Parser.parse(bytes, limits: limits) }
    }
    return try outcome.get()
}

/// Reads a document, executable or type system, from UTF-8 bytes (GraphQL §2).
public func parse(_ source: [UInt8], limits: ParseLimits = .standard) throws(SyntaxError) -> Document {
    try Parser.checkEncoding(of: source, limits: limits)
    let outcome = source.withUnsafeBufferPointer { bytes in
        Result { () throws(SyntaxError) -> Document in try Parser.parse(bytes, limits: limits) }
    }
    return try outcome.get()
}

/// The parser's state: the token under view and what is left of the limits.
///
/// `mutating` means "consumes tokens". Each function reads one production of the grammar.
struct Parser {
    var lexer: Lexer
    var token: Token
    private let limits: ParseLimits
    private var tokens = 0
    private var depth = 0
    /// The byte after the last token consumed.
    private var lastEnd = 0
    private let recordsSpans: Bool
    /// What was recorded, in the order in which nodes end.
    private(set) var spans: [SourceSpan] = []

    private init(
        bytes: UnsafeBufferPointer<UInt8>,
        limits: ParseLimits,
        recordsSpans: Bool = false
    ) throws(SyntaxError) {
        lexer = Lexer(bytes: bytes)
        self.recordsSpans = recordsSpans
        token = Token(kind: .startOfFile, start: 0, end: 0, location: SourceLocation(line: 1, column: 1))
        self.limits = limits
        try advance()
    }

    static func parse(_ bytes: UnsafeBufferPointer<UInt8>, limits: ParseLimits) throws(SyntaxError) -> Document {
        guard bytes.count <= limits.maximumBytes else { throw tooLong(bytes.count, limits: limits) }
        var parser = try Parser(bytes: bytes, limits: limits)
        return try parser.readDocument()
    }

    /// The document, and the span of every node of graphql-js's tree.
    static func parseWithSpans(
        _ bytes: UnsafeBufferPointer<UInt8>,
        limits: ParseLimits
    ) throws(SyntaxError) -> (document: Document, spans: [SourceSpan]) {
        guard bytes.count <= limits.maximumBytes else { throw tooLong(bytes.count, limits: limits) }
        var parser = try Parser(bytes: bytes, limits: limits, recordsSpans: true)
        let document = try parser.readDocument()
        return (document, parser.spans)
    }

    static func tooLong(_ count: Int, limits: ParseLimits) -> SyntaxError {
        SyntaxError(
            "Document has \(count) bytes, more than the \(limits.maximumBytes) accepted. Parsing aborted.",
            at: SourceLocation(line: 1, column: 1)
        )
    }

    /// `Document : Definition+`.
    private mutating func readDocument() throws(SyntaxError) -> Document {
        var definitions: [Definition] = []
        repeat {
            let start = token.start
            definitions.append(try readDefinition())
            record(from: start)
        } while token.kind != .endOfFile
        lastEnd = token.end
        record(from: 0)
        return Document(definitions: definitions)
    }

    /// `Definition : ExecutableDefinition | TypeSystemDefinition | TypeSystemExtension`.
    private mutating func readDefinition() throws(SyntaxError) -> Definition {
        if token.kind == .openBrace { return .operation(try readAnonymousQuery()) }
        let location = token.location
        let description = try readDescription()
        guard token.kind == .name else {
            guard token.kind == .openBrace else { throw unexpected() }
            throw SyntaxError(
                "Unexpected description, descriptions are not supported on shorthand queries.",
                at: location
            )
        }
        if let definition = try readTypeSystemDefinition(description) { return definition }
        if isKeyword("extend") {
            guard description == nil else {
                throw SyntaxError("Unexpected description, extensions cannot have one.", at: location)
            }
            return try readExtension()
        }
        if isKeyword("fragment") { return .fragment(try readFragment(description)) }
        return .operation(try readOperation(description))
    }

    /// `Description : StringValue`.
    mutating func readDescription() throws(SyntaxError) -> StringValue? {
        guard token.kind == .string || token.kind == .blockString else { return nil }
        let start = token.start
        let description = StringValue(value: lexer.text, isBlock: token.kind == .blockString)
        try advance()
        record(from: start)
        return description
    }
}

// What the productions rest on.
extension Parser {
    mutating func advance() throws(SyntaxError) {
        lastEnd = token.end
        token = try lexer.next()
        guard token.kind != .endOfFile else { return }
        tokens += 1
        if tokens > limits.maximumTokens {
            throw SyntaxError(
                "Document contains more than \(limits.maximumTokens) tokens. Parsing aborted.",
                at: token.location
            )
        }
    }

    /// Notes the span of a node that ends with the last token.
    mutating func record(from start: Int) {
        if recordsSpans { spans.append(SourceSpan(start: start, end: lastEnd)) }
    }

    /// Reads something that may contain itself.
    mutating func nested<Node>(
        _ read: (inout Parser) throws(SyntaxError) -> Node
    ) throws(SyntaxError) -> Node {
        guard depth < limits.maximumDepth else {
            throw SyntaxError(
                "Document is nested more than \(limits.maximumDepth) levels deep. Parsing aborted.",
                at: token.location
            )
        }
        depth += 1
        let node = try read(&self)
        depth -= 1
        return node
    }

    mutating func take(_ kind: Token.Kind) throws(SyntaxError) -> Bool {
        guard token.kind == kind else { return false }
        try advance()
        return true
    }

    mutating func expect(_ kind: Token.Kind) throws(SyntaxError) {
        guard try take(kind) else {
            throw SyntaxError("Expected \(kind.description), found \(tokenDescription).", at: token.location)
        }
    }

    /// `Name`.
    mutating func readName() throws(SyntaxError) -> String {
        let name = tokenText
        let start = token.start
        try expect(.name)
        record(from: start)
        return name
    }

    /// `NamedType : Name`.
    mutating func readNamedType() throws(SyntaxError) -> String {
        let start = token.start
        let name = try readName()
        record(from: start)
        return name
    }

    func isKeyword(_ word: StaticString) -> Bool {
        guard token.kind == .name, token.end - token.start == word.utf8CodeUnitCount else { return false }
        let expected = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        return lexer.bytes[token.start..<token.end].elementsEqual(expected)
    }

    mutating func takeKeyword(_ word: StaticString) throws(SyntaxError) -> Bool {
        guard isKeyword(word) else { return false }
        try advance()
        return true
    }

    mutating func expectKeyword(_ word: StaticString) throws(SyntaxError) {
        guard try takeKeyword(word) else {
            throw SyntaxError("Expected \"\(word)\", found \(tokenDescription).", at: token.location)
        }
    }

    /// `open Node+ close`.
    mutating func many<Node>(
        _ open: Token.Kind,
        _ close: Token.Kind,
        _ read: (inout Parser) throws(SyntaxError) -> Node
    ) throws(SyntaxError) -> [Node] {
        try expect(open)
        var nodes: [Node] = []
        repeat { nodes.append(try read(&self)) } while try !take(close)
        return nodes
    }

    /// `[ open Node+ close ]`.
    mutating func optionalMany<Node>(
        _ open: Token.Kind,
        _ close: Token.Kind,
        _ read: (inout Parser) throws(SyntaxError) -> Node
    ) throws(SyntaxError) -> [Node] {
        token.kind == open ? try many(open, close, read) : []
    }

    func unexpected() -> SyntaxError {
        SyntaxError("Unexpected \(tokenDescription).", at: token.location)
    }

    var tokenText: String { lexer.source(token.start..<token.end) }

    private var tokenDescription: String {
        switch token.kind {
        case .name, .int, .float: "\(token.kind.description) \"\(tokenText)\""
        case .string, .blockString: "\(token.kind.description) \"\(lexer.text)\""
        default: token.kind.description
        }
    }
}
