package import TocsinCore

/// Slack's own markup (`*bold*`, `<address|text>`, `<!here>`, `&amp;`) as plain text.
package enum SlackMarkup {
    /// The text as people read it.
    package static func plain(_ text: String) -> String {
        let text = text.withoutControls.cut(toBytes: SenderEvent.maximumBodyBytes)
        guard text.utf8.contains(where: { "<*_`~:&".utf8.contains($0) }) else { return text }
        let lines = references(in: text).split(separator: "\n", omittingEmptySubsequences: false).map(plainLine)
        return lines.joined(separator: "\n").replacing("&lt;", with: "<").replacing("&gt;", with: ">")
            .replacing("&amp;", with: "&")
    }

    private static func plainLine(_ line: Substring) -> String {
        var line = String(line)
        if line.hasPrefix("```") { line.removeFirst(3) }
        if line.hasSuffix("```") { line.removeLast(3) }
        return emoji(in: InlineMarks.removed(from: line, ["*", "_", "~", "`"]))
    }

    /// The addresses inside a text.
    package static func links(_ text: String) -> [SenderEvent.Link] {
        guard text.contains("://") else { return [] }
        return text.split(separator: "<", maxSplits: 100).compactMap { part -> SenderEvent.Link? in
            guard let close = part.firstIndex(of: ">") else { return nil }
            let halves = part[..<close].split(separator: "|", maxSplits: 1)
            let address = halves.first.map { String($0).replacing("&amp;", with: "&") }
            guard let url = SenderURL.checked(address) else { return nil }
            return SenderEvent.Link(text: halves.count > 1 ? String(halves[1]) : "", url: url)
        }
    }

    private static func references(in text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "<")) else { return text }
        let bytes = Array(text.utf8)
        var (output, index, close) = ([UInt8](), 0, -1)
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "<") else {
                output.append(bytes[index])
                index += 1
                continue
            }
            // The next `>` is looked for once, however many `<` come before it.
            if close < index { close = bytes[index...].firstIndex(of: UInt8(ascii: ">")) ?? Int.max }
            if close > index + 1, close - index < SenderURL.maximumBytes {
                output += Array(word(String(decoding: bytes[(index + 1)..<close], as: UTF8.self)).utf8)
                index = close + 1
            } else {
                output.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func word(_ reference: String) -> String {
        let halves = reference.split(separator: "|", maxSplits: 1).map(String.init)
        let (target, label) = (halves.first ?? "", halves.count > 1 ? halves[1] : nil)
        switch target.first {
        case "@", "#":
            return label.map { $0.hasPrefix(String(target.prefix(1))) ? $0 : String(target.prefix(1)) + $0 } ?? target
        case "!": return label ?? "@" + (target.dropFirst().split(separator: "^").first ?? "")
        default: return label ?? (target.hasPrefix("mailto:") ? String(target.dropFirst(7)) : target)
        }
    }

    private static func emoji(in line: String) -> String {
        let parts = line.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count > 2 else { return line }
        var (output, index) = (String(parts[0]), 1)
        while index < parts.count {
            if index + 1 < parts.count, let sign = Emoji.named(String(parts[index])) {
                output += sign + parts[index + 1]
                index += 2
            } else {
                output += ":" + parts[index]
                index += 1
            }
        }
        return output
    }
}
