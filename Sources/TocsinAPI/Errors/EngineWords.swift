/// A message of the engine taken apart: the texts between its fixed parts.
struct EngineWords {
    /// What stands between one fixed part and the next.
    let values: [String]

    /// Nil unless the message begins with the first part and has the others in their order; what follows the last is
    /// ignored.
    init?(_ message: String, _ parts: String...) {
        guard let first = parts.first, message.hasPrefix(first) else { return nil }
        var rest = message.dropFirst(first.count)
        var values: [String] = []
        for part in parts.dropFirst() {
            guard let (value, after) = Self.split(rest, before: part) else { return nil }
            values.append(String(value))
            rest = after
        }
        self.values = values
    }

    /// The text before the first occurrence of a part, or before the last when the text ends with it.
    private static func split(_ text: Substring, before part: String) -> (Substring, Substring)? {
        if text.hasSuffix(part), part.count == 1 { return (text.dropLast(), "") }
        var start = text.startIndex
        while start < text.endIndex {
            if text[start...].hasPrefix(part) {
                return (text[..<start], text[start...].dropFirst(part.count))
            }
            start = text.index(after: start)
        }
        return nil
    }
}
