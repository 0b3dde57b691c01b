/// Texts of senders, kept to what people can read and to a size.
extension String {
    /// Without spaces and line ends around it.
    package var trimmed: String {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        guard let first = utf8.firstIndex(where: { !isSpace($0) }),
            let last = utf8.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(self[first...last])
    }

    /// Without control characters but line feeds and tabs; other line ends become line feeds.
    package var withoutControls: String {
        guard utf8.contains(where: { ($0 < 0x20 && $0 != 0x0A && $0 != 0x09) || $0 == 0x7F || $0 == 0xC2 }) else {
            return self
        }
        var result = String.UnicodeScalarView()
        var follows = false
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0x0D: result.append("\n")
            case 0x0A: if !follows { result.append(scalar) }
            case 0x09: result.append(scalar)
            case 0..<0x20, 0x7F..<0xA0: break
            default: result.append(scalar)
            }
            follows = scalar.value == 0x0D
        }
        return String(result)
    }

    /// The first line that has something on it.
    package var firstLine: String {
        for line in split(separator: "\n", maxSplits: 1000) {
            let text = String(line).trimmed
            if !text.isEmpty { return String(text.split(separator: "\n")[0]).trimmed }
        }
        return ""
    }

    /// On one line: line ends and tabs become spaces.
    var onOneLine: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0 == "\n" || $0 == "\t" || $0 == "\r" ? " " : $0 }))
            .trimmed
    }

    /// At most so many bytes, cut at a character; what is cut ends with the mark.
    package func cut(toBytes maximum: Int, mark: String = "") -> String {
        guard utf8.count > maximum else { return self }
        var index = utf8.index(startIndex, offsetBy: max(0, maximum - mark.utf8.count))
        while index > startIndex, utf8[index] & 0xC0 == 0x80 { utf8.formIndex(before: &index) }
        // A sender may pile up thousands of accents on one letter: such are cut anywhere.
        var border = index
        for _ in 0..<16 where border > startIndex && border.samePosition(in: self) == nil {
            unicodeScalars.formIndex(before: &border)
        }
        if border.samePosition(in: self) != nil { index = border }
        return String(unicodeScalars[..<index]) + mark
    }
}
