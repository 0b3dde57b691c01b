/// Turns bytes into tokens (GraphQL §2.1).
///
/// Columns count UTF-16 code units: wherever a character of several bytes is passed, the start of the line is moved
/// along, so that a column is always a difference of two numbers. `mutating` means "consumes bytes".
struct Lexer {
    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0
    /// The decoded text of the last string token.
    var text = ""
    private var line = 1
    private var lineStart = 0

    init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// The next token, after white space, commas and comments.
    mutating func next() throws(SyntaxError) -> Token {
        skipIgnored()
        let start = position
        let location = location(of: start)
        let kind = try readToken()
        return Token(kind: kind, start: start, end: position, location: location)
    }

    private mutating func readToken() throws(SyntaxError) -> Token.Kind {
        guard let byte = peek() else { return .endOfFile }
        if Self.isNameStart(byte) {
            skipName()
            return .name
        }
        if let kind = Self.punctuator(byte) {
            position += 1
            return kind
        }
        switch byte {
        case UInt8(ascii: "\""): return try readString()
        case UInt8(ascii: "-"): return try readNumber()
        case UInt8(ascii: "."): return try readSpread()
        case _ where Self.isDigit(byte): return try readNumber()
        default: throw unexpectedCharacter()
        }
    }

    private mutating func skipIgnored() {
        while let byte = peek() {
            switch byte {
            case 0x20, 0x09, UInt8(ascii: ","): position += 1
            case 0x0A, 0x0D: newLine()
            case UInt8(ascii: "#"): skipComment()
            case 0xEF where bytes.count - position >= 3 && bytes[position + 1] == 0xBB && bytes[position + 2] == 0xBF:
                position += 3
                lineStart += 2
            default: return
            }
        }
    }

    private mutating func skipComment() {
        while let byte = peek(), byte != 0x0A, byte != 0x0D { advance(over: byte) }
    }

    private mutating func skipName() {
        while let byte = peek(), Self.isNameStart(byte) || Self.isDigit(byte) { position += 1 }
    }

    private mutating func readSpread() throws(SyntaxError) -> Token.Kind {
        guard peek(1) == UInt8(ascii: "."), peek(2) == UInt8(ascii: ".") else { throw unexpectedCharacter() }
        position += 3
        return .spread
    }

    private static func punctuator(_ byte: UInt8) -> Token.Kind? {
        switch byte {
        case UInt8(ascii: "{"): .openBrace
        case UInt8(ascii: "}"): .closeBrace
        case UInt8(ascii: ":"): .colon
        case UInt8(ascii: "("): .openParenthesis
        case UInt8(ascii: ")"): .closeParenthesis
        case UInt8(ascii: "$"): .dollar
        case UInt8(ascii: "!"): .bang
        case UInt8(ascii: "@"): .at
        case UInt8(ascii: "["): .openBracket
        case UInt8(ascii: "]"): .closeBracket
        case UInt8(ascii: "="): .equals
        case UInt8(ascii: "|"): .pipe
        case UInt8(ascii: "&"): .ampersand
        default: nil
        }
    }
}

// What the productions rest on.
extension Lexer {
    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    static func isNameStart(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
    }

    /// The byte some bytes ahead, or `nil` past the end.
    func peek(_ distance: Int = 0) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    /// Passes one byte, counting UTF-16 code units: one for each lead byte, two for those of four-byte characters.
    mutating func advance(over byte: UInt8) {
        position += 1
        if byte & 0xC0 == 0x80 { lineStart += 1 }
        if byte >= 0xF0 { lineStart -= 1 }
    }

    /// Passes one line terminator: LF, CR or CR LF.
    mutating func newLine() {
        position += peek() == 0x0D && peek(1) == 0x0A ? 2 : 1
        line += 1
        lineStart = position
    }

    /// The place of a byte on the line being read.
    func location(of offset: Int) -> SourceLocation {
        SourceLocation(line: line, column: offset - lineStart + 1)
    }

    func error(_ message: String) -> SyntaxError { SyntaxError(message, at: location(of: position)) }

    private func unexpectedCharacter() -> SyntaxError {
        if peek() == UInt8(ascii: "'") {
            return error("Unexpected single quote character ('), did you mean to use a double quote (\")?")
        }
        return error("Unexpected character: \(characterDescription()).")
    }

    /// The character at the current place, as errors name it.
    func characterDescription() -> String {
        guard position < bytes.count else { return "<EOF>" }
        let scalar = String(decoding: bytes[position..<min(position + 4, bytes.count)], as: UTF8.self).unicodeScalars
            .first
        guard let scalar else { return "<EOF>" }
        if scalar == "\"" { return "'\"'" }
        if (0x20...0x7E).contains(scalar.value) { return "\"\(scalar)\"" }
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// The text of some bytes, which the parser has found to be UTF-8.
    func source(_ range: Range<Int>) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }
}
