extension Lexer {
    /// GraphQL §2.10.1, §2.10.2: IntValue and FloatValue, not followed by a
    /// digit, a dot or a letter.
    mutating func readNumber() throws(SyntaxError) -> Token {
        var token = Token.int
        var position = start
        if peek(position) == UInt8(ascii: "-") { position += 1 }
        if peek(position) == UInt8(ascii: "0") {
            position += 1
            if let byte = peek(position), Self.isDigit(byte) {
                let found = characterDescription(at: position)
                throw error("Invalid number, unexpected digit after 0: \(found).", at: position)
            }
        } else {
            try skipDigits(&position)
        }
        if peek(position) == UInt8(ascii: ".") {
            token = .float
            position += 1
            try skipDigits(&position)
        }
        if let byte = peek(position), byte | 0x20 == UInt8(ascii: "e") {
            token = .float
            position += 1
            if let sign = peek(position), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            try skipDigits(&position)
        }
        if let byte = peek(position), byte == UInt8(ascii: ".") || bytes.endOfName(from: position) > position {
            throw expectedDigit(at: position)
        }
        end = position
        return token
    }

    private func skipDigits(_ position: inout Int) throws(SyntaxError) {
        guard let first = peek(position), Self.isDigit(first) else { throw expectedDigit(at: position) }
        while let byte = peek(position), Self.isDigit(byte) { position += 1 }
    }

    private func expectedDigit(at position: Int) -> SyntaxError {
        error("Invalid number, expected digit but got: \(characterDescription(at: position)).", at: position)
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
