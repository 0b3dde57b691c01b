/// Scheme, host and port of a provider.
struct Origin: Sendable, Hashable {
    let isSecure: Bool
    let host: String
    let port: Int
    /// As `:authority` names it: without the scheme's own port.
    let authority: String

    /// Reads `https://host`, `https://host:port`, `https://[::1]:port`, and the same with `http`;
    /// a final slash is allowed.
    init?(_ text: String) {
        guard let mark = text.range(of: "://") else { return nil }
        switch text[..<mark.lowerBound].lowercased() {
        case "https": isSecure = true
        case "http": isSecure = false
        default: return nil
        }
        var rest = text[mark.upperBound...]
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard !rest.isEmpty, !rest.contains(where: { "/?#@ ".contains($0) }) else { return nil }
        var name = rest
        var port = isSecure ? 443 : 80
        let colon = rest.lastIndex(of: ":")
        if let colon, !rest[colon...].contains("]") {
            guard let number = Int(rest[rest.index(after: colon)...]), (1...65_535).contains(number) else { return nil }
            port = number
            name = rest[..<colon]
        }
        guard !name.isEmpty else { return nil }
        authority = port == (isSecure ? 443 : 80) ? String(name) : "\(name):\(port)"
        host = name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : String(name)
        self.port = port
    }
}

extension String {
    /// The first occurrence of another text in this one; the standard library has it only with
    /// Foundation.
    fileprivate func range(of other: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(other) {
                return start..<index(start, offsetBy: other.count)
            }
            start = index(after: start)
        }
        return nil
    }
}
