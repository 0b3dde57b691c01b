extension Parser {
    /// Refuses bytes that are too many or no UTF-8, with the place of the first that does not belong.
    static func checkEncoding(of source: [UInt8], limits: ParseLimits) throws(SyntaxError) {
        guard source.count <= limits.maximumBytes else { throw tooLong(source.count, limits: limits) }
        do {
            _ = try UTF8Span(validating: source.span)
        } catch {
            throw SyntaxError(
                "The document is not valid UTF-8.",
                at: location(of: error.byteOffsets.lowerBound, source)
            )
        }
    }

    private static func location(of offset: Int, _ source: [UInt8]) -> SourceLocation {
        var line = 1
        var column = 1
        var previous: UInt8 = 0
        for byte in source[..<min(offset, source.count)] {
            if byte == 0x0A || byte == 0x0D {
                if byte == 0x0D || previous != 0x0D { line += 1 }
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += byte >= 0xF0 ? 2 : 1
            }
            previous = byte
        }
        return SourceLocation(line: line, column: column)
    }
}
