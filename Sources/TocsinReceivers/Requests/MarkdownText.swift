/// Markdown as plain text: the marks go, what they mark stays.
enum MarkdownText {
    /// The text without emphasis, code marks and the signs of headings; a link is its text.
    static func plain(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var line = String(line)
            if line.hasPrefix("```") { return String(line.dropFirst(3)) }
            let heading = line.prefix { $0 == "#" }
            if (1...6).contains(heading.count), line.dropFirst(heading.count).first == " " {
                line = String(line.dropFirst(heading.count + 1))
            }
            line = InlineMarks.removed(from: links(line), ["**", "__", "*", "_", "`", "~~"])
            return line
        }.joined(separator: "\n")
    }

    /// `[text](address)` and `![text](address)` become their texts.
    private static func links(_ line: String) -> String {
        guard line.contains("](") else { return line }
        let bytes = Array(line.utf8)
        var (output, index, open) = ([UInt8](), 0, [Int]())
        // The next closing bracket is looked for once, however many links lack one.
        let bracket = UInt8(ascii: ")")
        var closing = bytes.firstIndex(of: bracket)
        while index < bytes.count {
            if let past = closing, past < index { closing = bytes[index...].firstIndex(of: bracket) }
            if bytes[index] == UInt8(ascii: "[") { open.append(output.count) }
            if bytes[index] == UInt8(ascii: "]"), let start = open.popLast(), index + 1 < bytes.count,
                bytes[index + 1] == UInt8(ascii: "("),
                let close = closing, close - index < SenderURL.maximumBytes
            {
                output.remove(at: start)
                if start > 0, output[start - 1] == UInt8(ascii: "!") { output.remove(at: start - 1) }
                index = close + 1
                continue
            }
            output.append(bytes[index])
            index += 1
        }
        return String(decoding: output, as: UTF8.self)
    }
}
