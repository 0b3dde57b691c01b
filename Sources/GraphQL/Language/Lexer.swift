/// Turns bytes into tokens (GraphQL §2.1) and keeps the one under view.
///
/// A token is a kind and an offset. Its text stays in the source, and lines are counted only when
/// an error needs them.
struct Lexer {
    // Unsafe, because this loop sees every byte: the parser keeps the buffer alive
    // for as long as the lexer.
    let bytes: UnsafeBufferPointer<UInt8>
    /// The kind of the token under view.
    private(set) var token = Token.startOfFile
    /// The token's first byte.
    private(set) var start = 0
    /// The byte after the token's last.
    var end = 0
    /// The byte after the last of the token before.
    private(set) var previousEnd = 0
    /// Whether the token is a quoted string with escapes in it.
    var hasEscapes = false
    private let maximumTokens: Int
    private var tokensLeft: Int
    private let classes = ByteClass.table

    init(bytes: UnsafeBufferPointer<UInt8>, maximumTokens: Int) {
        self.bytes = bytes
        self.maximumTokens = maximumTokens
        tokensLeft = maximumTokens
    }

    /// Goes on to the next token, past white space, commas and comments.
    mutating func advance() throws(SyntaxError) {
        previousEnd = end
        var position = end
        // Two tests that are mostly foreseen instead of a jump by class that is not: a
        // third of the time of parsing.
        if position < bytes.count, classes[Int(bytes[unchecked: position])] == ByteClass.blank {
            position = bytes.endOfBlanks(from: position + 1)
        }
        if position < bytes.count {
            let byte = bytes[unchecked: position]
            let byteClass = classes[Int(byte)]
            if byteClass == ByteClass.nameStart {
                return try take(.name, from: position, to: bytes.endOfName(from: position + 1))
            }
            if byteClass == ByteClass.punctuator {
                return try take(Token(code: byte), from: position, to: position + 1)
            }
        }
        try advance(from: position)
    }

    /// The same for whatever may follow the last token.
    private mutating func advance(from start: Int) throws(SyntaxError) {
        var position = start
        while position < bytes.count {
            let byte = bytes[unchecked: position]
            switch classes[Int(byte)] {
            case ByteClass.blank: position = bytes.endOfBlanks(from: position + 1)
            case ByteClass.nameStart: return try take(.name, from: position, to: bytes.endOfName(from: position + 1))
            case ByteClass.punctuator: return try take(Token(code: byte), from: position, to: position + 1)
            case ByteClass.comment: position = endOfLine(from: position)
            case ByteClass.byteOrderMark where isByteOrderMark(at: position): position += 3
            default:
                let token = try readOther(at: position)
                return try take(token, from: position, to: end)
            }
        }
        token = .endOfFile
        self.start = position
        end = position
    }

    @inline(__always)
    private mutating func take(_ token: Token, from start: Int, to end: Int) throws(SyntaxError) {
        self.token = token
        self.start = start
        self.end = end
        tokensLeft -= 1
        if tokensLeft < 0 {
            throw error("Document contains more than \(maximumTokens) tokens. Parsing aborted.", at: start)
        }
    }

    /// Numbers, strings and the spread; `end` is then the byte after the last.
    private mutating func readOther(at position: Int) throws(SyntaxError) -> Token {
        start = position
        switch bytes[position] {
        case UInt8(ascii: "\""): return try readString()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try readNumber()
        case UInt8(ascii: ".") where peek(position + 1) == UInt8(ascii: ".") && peek(position + 2) == UInt8(ascii: "."):
            end = position + 3
            return .spread
        case UInt8(ascii: "'"):
            throw error("Unexpected single quote character ('), did you mean to use a double quote (\")?", at: position)
        default: throw error("Unexpected character: \(characterDescription(at: position)).", at: position)
        }
    }

    private func endOfLine(from start: Int) -> Int {
        var position = start
        while position < bytes.count, bytes[unchecked: position] != 0x0A, bytes[unchecked: position] != 0x0D {
            position += 1
        }
        return position
    }

    private func isByteOrderMark(at position: Int) -> Bool {
        peek(position + 1) == 0xBB && peek(position + 2) == 0xBF
    }
}

// What the productions rest on.
extension Lexer {
    /// A byte, or `nil` past the end.
    func peek(_ position: Int) -> UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    func error(_ message: String, at position: Int) -> SyntaxError {
        SyntaxError(message, at: SourceLocation(of: position, in: bytes))
    }

    /// The character at an offset, as errors name it.
    func characterDescription(at position: Int) -> String {
        guard position < bytes.count,
            let scalar = text(position..<min(position + 4, bytes.count)).unicodeScalars.first
        else { return "<EOF>" }
        if scalar == "\"" { return "'\"'" }
        if (0x20...0x7E).contains(scalar.value) { return "\"\(scalar)\"" }
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// Some bytes of the source that were read.
    func slice(from start: Int, to end: Int) -> NameSlice {
        NameSlice(start: bytes.baseAddress.unsafelyUnwrapped + start, length: end - start)
    }

    /// The text of some bytes, which the parser has found to be UTF-8.
    func text(_ range: Range<Int>) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }
}
