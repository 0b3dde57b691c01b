import Encodings

/// Whose word on where a request came from is taken.
struct TrustedProxies: Sendable {
    private let networks: [AddressNetwork]
    /// Hops that are looked at; a request through more proxies names no client.
    private static let maximumHops = 32

    init(_ networks: [AddressNetwork]) { self.networks = networks }

    /// Whether this is a proxy of ours.
    func trust(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

    /// The client whose request a proxy passed on; nil when none is named.
    ///
    /// It is the last hop that is not a proxy of ours, else the first hop.
    ///
    /// `X-Forwarded-For` counts before `Forwarded` (RFC 7239): most proxies set the first and pass
    /// on the second as the client sent it.
    func client(forwardedFor: String?, forwarded: String?) -> IPAddress? {
        if let forwardedFor { return client(of: forwardedFor) { $0 } }
        if let forwarded { return client(of: forwarded, Self.hop) }
        return nil
    }

    private func client(of list: String, _ hop: (Substring) -> Substring?) -> IPAddress? {
        var client: IPAddress?
        for element in list.split(separator: ",").suffix(Self.maximumHops).reversed() {
            // What is left of an unreadable hop is the word of nobody we know.
            guard let text = hop(element), let address = Self.address(text) else { return client }
            client = address
            guard trust(address) else { return client }
        }
        return client
    }

    /// The value of `for` in an element of `Forwarded`.
    private static func hop(_ element: Substring) -> Substring? {
        for pair in element.split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, trimmed(parts[0]).lowercased() == "for" else { continue }
            return parts[1]
        }
        return nil
    }

    /// `192.0.2.1`, `192.0.2.1:80`, `[2001:db8::1]:80`, each with or without quotes.
    private static func address(_ text: Substring) -> IPAddress? {
        var text = trimmed(text)
        if text.first == "\"", text.last == "\"", text.count >= 2 { text = text.dropFirst().dropLast() }
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            text = text.dropFirst()[..<end]
        } else if text.count(where: { $0 == ":" }) == 1 {
            text = text.prefix { $0 != ":" }
        }
        return text.utf8.count <= 45 ? IPAddress(String(text)) : nil
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        guard let end = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return start }
        return start[...end]
    }
}
