/// Reads a document, executable or type system, from text (GraphQL §2).
public func parse(_ source: String, limits: ParseLimits = .standard) throws(SyntaxError) -> Document {
    guard source.utf8.count <= limits.maximumBytes else { throw Parser.tooLong(source.utf8.count, limits: limits) }
    return Document(tree: try Parser.parse(Array(source.utf8), limits: limits))
}

/// Reads a document, executable or type system, from UTF-8 bytes (GraphQL §2).
public func parse(_ source: [UInt8], limits: ParseLimits = .standard) throws(SyntaxError) -> Document {
    Document(tree: try Parser.parse(checking: source, limits: limits))
}

/// Reads tokens and appends nodes.
///
/// `mutating` means "consumes tokens". Each function reads one production of the grammar.
struct Parser {
    var lexer: Lexer
    private(set) var nodes: [SyntaxNode] = []
    private let limits: ParseLimits
    private var depth = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>, limits: ParseLimits) throws(SyntaxError) {
        lexer = Lexer(bytes: bytes, maximumTokens: limits.maximumTokens)
        self.limits = limits
        // What most documents need; a denser one makes the array grow.
        nodes.reserveCapacity(min(bytes.count / 8, limits.maximumTokens) + 16)
        try lexer.advance()
    }

    /// Reads bytes that may be anything.
    static func parse(checking source: [UInt8], limits: ParseLimits) throws(SyntaxError) -> SyntaxTree {
        guard source.count <= limits.maximumBytes else { throw tooLong(source.count, limits: limits) }
        do {
            _ = try UTF8Span(validating: source.span)
        } catch {
            let offset = error.byteOffsets.lowerBound
            throw SyntaxError(
                "The document is not valid UTF-8.",
                at: source.withUnsafeBufferPointer { SourceLocation(of: offset, in: $0) }
            )
        }
        return try parse(source, limits: limits)
    }

    /// Reads bytes known to be UTF-8 and no more than the limit.
    static func parse(_ source: [UInt8], limits: ParseLimits) throws(SyntaxError) -> SyntaxTree {
        let nodes = try source.withUnsafeBufferPointer { (bytes) throws(SyntaxError) -> [SyntaxNode] in
            var parser = try Parser(bytes, limits: limits)
            try parser.readDocument()
            return parser.nodes
        }
        return SyntaxTree(source: source, nodes: nodes)
    }

    static func tooLong(_ count: Int, limits: ParseLimits) -> SyntaxError {
        SyntaxError(
            "Document has \(count) bytes, more than the \(limits.maximumBytes) accepted. Parsing aborted.",
            at: SourceLocation(line: 1, column: 1)
        )
    }

    /// `Document : Definition+`.
    private mutating func readDocument() throws(SyntaxError) {
        nodes.append(SyntaxNode(kind: .document, flags: [], start: 0, end: 0, next: 0, textStart: 0, textLength: 0))
        repeat { try readDefinition() } while lexer.token != .endOfFile
        nodes[0].end = UInt32(truncatingIfNeeded: lexer.end)
        nodes[0].next = UInt32(truncatingIfNeeded: nodes.count)
    }

    /// `Definition : ExecutableDefinition | TypeSystemDefinition | TypeSystemExtension`.
    private mutating func readDefinition() throws(SyntaxError) {
        if lexer.token == .openBrace { return try readAnonymousQuery() }
        let start = lexer.start
        let definition = begin(.operation)
        try readDescription()
        let isDescribed = lexer.start != start
        guard lexer.token == .name else {
            guard lexer.token == .openBrace else { throw unexpected() }
            let message = "Unexpected description, descriptions are not supported on shorthand queries."
            throw lexer.error(message, at: start)
        }
        if isKeyword("query") || isKeyword("mutation") || isKeyword("subscription") {
            try readOperation(definition)
        } else if isKeyword("fragment") {
            try readFragmentDefinition(definition)
        } else if try !readTypeSystemDefinition(definition) {
            if isDescribed {
                throw lexer.error("Unexpected description, only GraphQL definitions support descriptions.", at: start)
            }
            guard isKeyword("extend") else { throw unexpected() }
            try lexer.advance()
            guard lexer.token == .name else { throw unexpected() }
            nodes[definition].flags = .isExtension
            guard try readTypeSystemDefinition(definition) else { throw unexpected() }
        }
        finish(definition)
    }

    /// `Description : StringValue`.
    mutating func readDescription() throws(SyntaxError) {
        if lexer.token == .string || lexer.token == .blockString { try readString(.description) }
    }
}

// Nodes.
extension Parser {
    /// A node that begins with the token under view; its children follow.
    mutating func begin(_ kind: SyntaxNode.Kind) -> Int {
        begin(kind, at: lexer.start)
    }

    /// A node that begins at a byte, with a text that is set now or later.
    mutating func begin(_ kind: SyntaxNode.Kind, at start: Int, text: Range<Int> = 0..<0) -> Int {
        let index = nodes.count
        nodes.append(
            SyntaxNode(
                kind: kind,
                flags: [],
                start: UInt32(truncatingIfNeeded: start),
                end: UInt32(truncatingIfNeeded: text.upperBound),
                next: UInt32(truncatingIfNeeded: index + 1),
                textStart: UInt32(truncatingIfNeeded: text.lowerBound),
                textLength: UInt32(truncatingIfNeeded: text.count)
            )
        )
        return index
    }

    /// Ends a node behind the last token consumed and the last node appended.
    mutating func finish(_ node: Int) {
        nodes[node].end = UInt32(truncatingIfNeeded: lexer.previousEnd)
        nodes[node].next = UInt32(truncatingIfNeeded: nodes.count)
    }

    mutating func set(_ node: Int, _ kind: SyntaxNode.Kind) {
        nodes[node].kind = kind
    }

    mutating func add(_ flags: SyntaxNode.Flags, to node: Int) {
        nodes[node].flags.formUnion(flags)
    }

    /// `Name`, as the text of a node.
    mutating func readName(of node: Int) throws(SyntaxError) {
        setText(try readName(), of: node)
    }

    mutating func setText(_ text: Range<Int>, of node: Int) {
        nodes[node].textStart = UInt32(truncatingIfNeeded: text.lowerBound)
        nodes[node].textLength = UInt32(truncatingIfNeeded: text.count)
    }
}

// What the productions rest on.
extension Parser {
    /// Reads something that may contain itself.
    mutating func nest() throws(SyntaxError) {
        guard depth < limits.maximumDepth else {
            let message = "Document is nested more than \(limits.maximumDepth) levels deep. Parsing aborted."
            throw lexer.error(message, at: lexer.start)
        }
        depth += 1
    }

    mutating func unnest() {
        depth -= 1
    }

    mutating func take(_ token: Token) throws(SyntaxError) -> Bool {
        guard lexer.token == token else { return false }
        try lexer.advance()
        return true
    }

    mutating func expect(_ token: Token) throws(SyntaxError) {
        guard lexer.token == token else {
            throw lexer.error("Expected \(token.description), found \(tokenDescription).", at: lexer.start)
        }
        try lexer.advance()
    }

    /// `Name`.
    mutating func readName() throws(SyntaxError) -> Range<Int> {
        let name = Range(uncheckedBounds: (lexer.start, lexer.end))
        try expect(.name)
        return name
    }

    func isKeyword(_ word: StaticString) -> Bool {
        lexer.token == .name && tokenText == word
    }

    mutating func takeKeyword(_ word: StaticString) throws(SyntaxError) -> Bool {
        guard isKeyword(word) else { return false }
        try lexer.advance()
        return true
    }

    mutating func expectKeyword(_ word: StaticString) throws(SyntaxError) {
        guard try takeKeyword(word) else {
            throw lexer.error("Expected \"\(word)\", found \(tokenDescription).", at: lexer.start)
        }
    }

    func unexpected() -> SyntaxError {
        lexer.error("Unexpected \(tokenDescription).", at: lexer.start)
    }

    var tokenText: NameSlice { lexer.slice(from: lexer.start, to: lexer.end) }

    private var tokenDescription: String {
        switch lexer.token {
        case .name, .int, .float: return "\(lexer.token.description) \"\(tokenText.string)\""
        case .string:
            let content = lexer.slice(from: lexer.start + 1, to: lexer.end - 1)
            return "\(lexer.token.description) \"\(StringDecoder.unescaped(content.bytes))\""
        case .blockString:
            let content = lexer.slice(from: lexer.start + 3, to: lexer.end - 3)
            return "\(lexer.token.description) \"\(StringDecoder.dedented(content.bytes))\""
        default: return lexer.token.description
        }
    }
}
