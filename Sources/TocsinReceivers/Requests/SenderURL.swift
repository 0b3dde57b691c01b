/// Addresses that senders give.
package enum SenderURL {
    /// The longest that is kept, in bytes.
    package static let maximumBytes = 2048

    /// `scheme://host…`, with any scheme but those that run or read something in the reader's
    /// program; nil: it is no address.
    package static func checked(_ text: String?) -> String? {
        guard let text = text?.trimmed, text.utf8.count <= maximumBytes,
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        let scheme = text[..<colon].lowercased()
        let rest = text[text.utf8.index(after: colon)...]
        guard let first = scheme.utf8.first, (0x61...0x7A).contains(first),
            scheme.utf8.allSatisfy({
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0)
            }),
            !refused.contains(scheme),
            text.unicodeScalars.allSatisfy({ $0.value > 0x20 && !(0x7F..<0xA0).contains($0.value) }),
            rest.hasPrefix("//")
        else { return nil }
        let host = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !host.isEmpty, !host.hasPrefix(":") else { return nil }
        return scheme + "://" + host + withoutDoubleSlashes(rest.dropFirst(2 + host.count))
    }

    /// As `checked`, and only of `https`.
    package static func secure(_ text: String?) -> String? {
        checked(text).flatMap { $0.hasPrefix("https://") ? $0 : nil }
    }

    private static let refused: Set<String> = ["javascript", "data", "vbscript", "file", "blob", "about"]

    /// Grafana writes `https://host//d/1` where its own address ends with a slash.
    private static func withoutDoubleSlashes(_ text: Substring) -> String {
        let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
        guard text[..<end].contains("//") else { return String(text) }
        var path = ""
        for character in text[..<end] where !(character == "/" && path.hasSuffix("/")) { path.append(character) }
        return path + text[end...]
    }
}
