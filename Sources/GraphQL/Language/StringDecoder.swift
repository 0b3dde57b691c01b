/// Turns what stands between a string's quotes into its text (GraphQL §2.10.4);
/// the lexer has checked it.
enum StringDecoder {
    /// The text of a quoted string with escapes.
    static func unescaped(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        var text = ""
        var plain = 0
        var position = 0
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "\\"), let escape = StringEscape(bytes, at: position) else {
                position += 1
                continue
            }
            text += String(decoding: bytes[plain..<position], as: UTF8.self)
            text.unicodeScalars.append(escape.scalar)
            position += escape.length
            plain = position
        }
        return text + String(decoding: bytes[plain...], as: UTF8.self)
    }

    /// BlockStringValue: common indentation goes, and blank lines at both ends; `\"""`
    /// stands for three quotes.
    static func dedented(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let lines = lines(bytes)
        let indents = lines.map { line in line.prefix { $0 == 0x20 || $0 == 0x09 }.count }
        let filled = lines.indices.filter { indents[$0] < lines[$0].count }
        guard let first = filled.first, let last = filled.last else { return "" }
        let common = filled.filter { $0 != 0 }.map { indents[$0] }.min() ?? 0
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for index in first...last {
            if index > first { text.append(0x0A) }
            appendReplacingQuotes(lines[index].dropFirst(index == 0 ? 0 : common), to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Split at LF, CR and CR LF.
    private static func lines(_ bytes: UnsafeBufferPointer<UInt8>) -> [Slice<UnsafeBufferPointer<UInt8>>] {
        var lines: [Slice<UnsafeBufferPointer<UInt8>>] = []
        var start = 0
        var position = 0
        while position < bytes.count {
            let byte = bytes[position]
            if byte == 0x0A || byte == 0x0D {
                lines.append(bytes[start..<position])
                if byte == 0x0D, position + 1 < bytes.count, bytes[position + 1] == 0x0A { position += 1 }
                start = position + 1
            }
            position += 1
        }
        lines.append(bytes[start...])
        return lines
    }

    private static func appendReplacingQuotes(_ line: Slice<UnsafeBufferPointer<UInt8>>, to text: inout [UInt8]) {
        var position = line.startIndex
        while position < line.endIndex {
            let isEscape = line[position...].starts(with: [0x5C, 0x22, 0x22, 0x22])
            if !isEscape { text.append(line[position]) }
            position += 1
            guard isEscape else { continue }
            text += [0x22, 0x22, 0x22]
            position += 3
        }
    }
}
