extension Lexer {
    /// GraphQL §2.10.4: BlockString, after its opening quotes.
    ///
    /// The dedented text goes to `text`.
    mutating func readBlockString() throws(SyntaxError) {
        var lines: [String] = []
        var current = ""
        var start = position
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "\"") where isTripleQuote(at: 0):
                lines.append(current + source(start..<position))
                position += 3
                text = Self.dedented(lines)
                return
            case UInt8(ascii: "\\") where isTripleQuote(at: 1):
                current += source(start..<position) + "\"\"\""
                position += 4
                start = position
            case 0x0A, 0x0D:
                lines.append(current + source(start..<position))
                current = ""
                newLine()
                start = position
            default: advance(over: byte)
            }
        }
        throw error("Unterminated string.")
    }

    private func isTripleQuote(at distance: Int) -> Bool {
        (distance..<distance + 3).allSatisfy { peek($0) == UInt8(ascii: "\"") }
    }

    /// GraphQL §2.10.4 BlockStringValue: common indentation goes, and blank lines at both ends.
    private static func dedented(_ lines: [String]) -> String {
        let indents = lines.map { line in line.utf8.prefix { $0 == 0x20 || $0 == 0x09 }.count }
        let filled = lines.indices.filter { indents[$0] < lines[$0].utf8.count }
        guard let first = filled.first, let last = filled.last else { return "" }
        let common = filled.filter { $0 != 0 }.map { indents[$0] }.min() ?? 0
        return (first...last).map { index in
            index == 0 ? lines[index] : String(lines[index].unicodeScalars.dropFirst(common))
        }.joined(separator: "\n")
    }
}
