/// Where a push service takes pushes for one browser: an https URL, of which only
/// we and the browser know.
struct WebPushEndpoint: Sendable, Hashable {
    /// `https://host` or `https://host:port`, lower case, without the usual port: the `aud`
    /// of tokens (RFC 8292 §2).
    let origin: String
    /// Path and query, as given.
    let path: String

    var text: String { origin + path }

    private static let maximumBytes = 2048

    init(_ text: String, rules: WebPushAddressRules) throws(WebPushSubscription.Problem) {
        typealias Problem = WebPushSubscription.Problem
        guard text.utf8.count <= Self.maximumBytes, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Problem(reason: "endpoint must be at most \(Self.maximumBytes) printable ASCII characters")
        }
        guard text.prefix(8).lowercased() == "https://" else {
            throw Problem(reason: "endpoint must be an https address")
        }
        let rest = text.dropFirst(8)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let path = rest[authority.endIndex...]
        guard !authority.contains("@"), !path.contains("#"), !authority.contains("\\") else {
            throw Problem(reason: "endpoint must have neither a user nor a fragment")
        }
        guard let (host, port) = Self.hostAndPort(authority.lowercased()) else {
            throw Problem(reason: "endpoint must name a host, and a port of 1 to 65535 if any")
        }
        if let reason = rules.refusal(ofHost: host) { throw Problem(reason: reason) }
        origin = "https://" + host + (port == 443 ? "" : ":\(port)")
        self.path = path.hasPrefix("/") ? String(path) : "/" + path
    }

    private static func hostAndPort(_ authority: String) -> (host: String, port: Int)? {
        var host = authority[...]
        var port = 443
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            guard let number = Int(authority[authority.index(after: colon)...]), (1...65_535).contains(number) else {
                return nil
            }
            (host, port) = (authority[..<colon], number)
        }
        let isName = host.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D || byte == 0x2E
        }
        let isAddress = host.hasPrefix("[") && host.hasSuffix("]") && !host.dropFirst().dropLast().contains("[")
        guard !host.isEmpty, isName || isAddress else { return nil }
        return (String(host), port)
    }
}

/// Which hosts pushes to browsers may go to; clients name these hosts, so they are not trusted.
///
/// The transport looks at the addresses behind the names once more, when it connects
/// (`PushPool.refusesPrivateAddresses`).
package struct WebPushAddressRules: Sendable, Hashable {
    /// Whether loopback, private and link-local addresses are taken, for tests.
    package var allowsPrivateAddresses: Bool
    /// If any is given, only these hosts and those below them.
    package var hosts: [String]

    /// Rules; by default every public host will do.
    package init(allowsPrivateAddresses: Bool = false, hosts: [String] = []) {
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.hosts = hosts.map { $0.lowercased() }
    }

    /// Why pushes may not go to a host, in lower case; nil if they may.
    func refusal(ofHost host: String) -> String? {
        if !hosts.isEmpty, !hosts.contains(where: { host == $0 || host.hasSuffix("." + $0) }) {
            return "endpoint is at a push service that this server does not use"
        }
        guard !allowsPrivateAddresses else { return nil }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let isNumeric = labels.last { !$0.isEmpty }.map(Self.isNumber) ?? true
        guard !host.hasPrefix("["), !isNumeric else {
            return "endpoint must name its host, not give an address"
        }
        let last = labels.last { !$0.isEmpty } ?? ""
        guard labels.count > 1, !["localhost", "local", "internal", "lan", "home", "arpa"].contains(String(last)) else {
            return "endpoint must be at a public host"
        }
        return nil
    }

    /// Whether a host's last label makes it an address in one of the spellings that
    /// resolvers take (WHATWG URL §3.5).
    private static func isNumber(_ label: Substring) -> Bool {
        label.utf8.allSatisfy { (0x30...0x39).contains($0) } || label.hasPrefix("0x")
    }
}
