/// A message of the engine taken apart: the texts between its fixed parts.
struct EngineWords {
    /// What stands between one fixed part and the next.
    let values: [String]
    /// More of a message is not looked at: what a client sent may stand in it at length.
    static let maximumBytes = 4096

    /// Nil unless the message begins with the first part and has the others in their order; what
    /// follows the last is ignored.
    init?(_ whole: String, _ parts: String...) {
        let isLong = whole.utf8.count > Self.maximumBytes
        let message = isLong ? String(decoding: whole.utf8.prefix(Self.maximumBytes), as: UTF8.self) : whole
        guard let first = parts.first, message.hasPrefix(first) else { return nil }
        var rest = message.dropFirst(first.count)
        var values: [String] = []
        for (index, part) in parts.enumerated().dropFirst() {
            let isLast = index == parts.count - 1
            guard let (value, after) = Self.split(rest, before: part, isLast: isLast) else { return nil }
            values.append(String(value))
            rest = after
        }
        self.values = values
    }

    /// The text before the first occurrence of a part; the last part may be a full
    /// stop, which ends the message.
    private static func split(_ text: Substring, before part: String, isLast: Bool) -> (Substring, Substring)? {
        if isLast, part == ".", text.hasSuffix(part) { return (text.dropLast(), "") }
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
