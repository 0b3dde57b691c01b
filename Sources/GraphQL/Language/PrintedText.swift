/// The small joints every printed production is made of, after graphql-js' `printer.ts`.
enum PrintedText {
    /// The parts that are not empty, with a separator between them.
    static func join(_ parts: [String], _ separator: String = "") -> String {
        parts.filter { !$0.isEmpty }.joined(separator: separator)
    }

    /// The text between two others, or nothing when there is none.
    static func wrap(_ start: String, _ text: String, _ end: String = "") -> String {
        text.isEmpty ? "" : start + text + end
    }

    /// The lines between braces, or nothing when there are none.
    static func block(_ lines: [String]) -> String {
        wrap("{\n", indent(join(lines, "\n")), "\n}")
    }

    /// Every line two spaces further in.
    static func indent(_ text: String) -> String {
        guard !text.isEmpty else { return "" }
        let spaces = "  ".utf8
        var bytes = Array(spaces)
        bytes.reserveCapacity(text.utf8.count + text.utf8.count / 8 + spaces.count)
        for byte in text.utf8 {
            bytes.append(byte)
            if byte == UInt8(ascii: "\n") { bytes.append(contentsOf: spaces) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Arguments in one line, or one a line when any of them has several.
    static func arguments(_ arguments: [String]) -> String {
        let isMultiline = arguments.contains { $0.unicodeScalars.contains("\n") }
        return isMultiline
            ? wrap("(\n", indent(join(arguments, "\n")), "\n)") : wrap("(", join(arguments, ", "), ")")
    }

    /// Text in quotes, with its escapes (GraphQL §2.10.4).
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\u{8}": result += "\\b"
            case "\u{C}": result += "\\f"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}":
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Text between triple quotes, in one line where it reads back the same.
    static func blockQuoted(_ text: String) -> String {
        let escaped = escapingTripleQuotes(text)
        let lines = escaped.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" }
        let isSingleLine = lines.count == 1
        let isBlank = { (scalar: Unicode.Scalar?) in scalar == " " || scalar == "\t" }
        let leads = lines.count > 1 && lines.dropFirst().allSatisfy { $0.isEmpty || isBlank($0.first) }
        let endsInTripleQuote = escaped.hasSuffix("\\\"\"\"")
        let trails = (text.hasSuffix("\"") && !endsInTripleQuote) || text.hasSuffix("\\")
        let isLong = !isSingleLine || text.utf16.count > 70 || trails || leads || endsInTripleQuote
        let skipsLead = isSingleLine && isBlank(text.unicodeScalars.first)
        let start = (isLong && !skipsLead) || leads ? "\n" : ""
        return "\"\"\"" + start + escaped + (isLong || trails ? "\n" : "") + "\"\"\""
    }

    private static func escapingTripleQuotes(_ text: String) -> String {
        var result: [UInt8] = []
        var quotes = 0
        for byte in text.utf8 {
            result.append(byte)
            quotes = byte == UInt8(ascii: "\"") ? quotes + 1 : 0
            if quotes == 3 {
                result.insert(UInt8(ascii: "\\"), at: result.count - 3)
                quotes = 0
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
