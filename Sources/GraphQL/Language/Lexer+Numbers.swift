extension Lexer {
    /// GraphQL §2.10.1, §2.10.2: IntValue and FloatValue, not followed by a digit, a dot or a letter.
    mutating func readNumber() throws(SyntaxError) -> Token.Kind {
        var kind = Token.Kind.int
        if peek() == UInt8(ascii: "-") { position += 1 }
        if peek() == UInt8(ascii: "0") {
            position += 1
            if let byte = peek(), Self.isDigit(byte) {
                throw error("Invalid number, unexpected digit after 0: \(characterDescription()).")
            }
        } else {
            try skipDigits()
        }
        if peek() == UInt8(ascii: ".") {
            kind = .float
            position += 1
            try skipDigits()
        }
        if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
            kind = .float
            position += 1
            if let sign = peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            try skipDigits()
        }
        if let byte = peek(), byte == UInt8(ascii: ".") || Self.isNameStart(byte) {
            throw error("Invalid number, expected digit but got: \(characterDescription()).")
        }
        return kind
    }

    private mutating func skipDigits() throws(SyntaxError) {
        guard let first = peek(), Self.isDigit(first) else {
            throw error("Invalid number, expected digit but got: \(characterDescription()).")
        }
        while let byte = peek(), Self.isDigit(byte) { position += 1 }
    }
}
