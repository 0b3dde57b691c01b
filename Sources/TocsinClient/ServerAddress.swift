import NIOCore

/// Where a server is, read from a URL such as `https://tocsin.example:8443`.
struct ServerAddress: Sendable, Hashable {
    let isEncrypted: Bool
    /// Without the brackets of an IPv6 address.
    let host: String
    let port: Int
    /// The path of the GraphQL endpoint, for HTTP and WebSocket alike.
    let path: String

    /// Reads `http://…` or `https://…`; a path other than `/` is taken as
    /// the GraphQL endpoint's own.
    init(url: String) throws(ClientError) {
        let lowercased = url.lowercased()
        let rest: Substring
        if lowercased.hasPrefix("https://") {
            (isEncrypted, rest) = (true, url.dropFirst("https://".count))
        } else if lowercased.hasPrefix("http://") {
            (isEncrypted, rest) = (false, url.dropFirst("http://".count))
        } else {
            throw Self.error(url, "it must begin with http:// or https://")
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let path = rest.dropFirst(authority.count)
        guard !path.contains(where: { $0 == "?" || $0 == "#" || !$0.isASCII || $0.isWhitespace || $0.isNewline }) else {
            throw Self.error(url, "it must have no parameters, spaces or characters beyond ASCII after the host")
        }
        guard !authority.contains("@") else {
            throw Self.error(url, "credentials do not belong there; give a token instead")
        }
        self.path = path.isEmpty || path == "/" ? "/graphql" : String(path)
        (host, port) = try Self.hostAndPort(authority, isEncrypted, url)
    }

    /// The value of `Host`.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isEncrypted ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// Whether the host is this machine by its name or number.
    var isLoopback: Bool { host == "localhost" || host == "::1" || (host.hasPrefix("127.") && isNumeric) }

    /// For messages to people.
    var description: String { "\(isEncrypted ? "https" : "http")://\(authority)" }

    /// Whether the host is a number and not a name.
    var isNumeric: Bool { (try? SocketAddress(ipAddress: host, port: port)) != nil }

    private static func hostAndPort(
        _ authority: Substring,
        _ isEncrypted: Bool,
        _ url: String
    ) throws(ClientError) -> (String, Int) {
        let host: Substring
        let rest: Substring
        if authority.first == "[", let end = authority.firstIndex(of: "]") {
            host = authority[authority.index(after: authority.startIndex)..<end]
            rest = authority[authority.index(after: end)...]
        } else {
            host = authority.prefix { $0 != ":" }
            rest = authority.dropFirst(host.count)
        }
        guard !host.isEmpty, host.allSatisfy({ $0.isASCII && !$0.isWhitespace && !$0.isNewline }) else {
            throw error(url, "it names no host")
        }
        if rest.isEmpty { return (String(host), isEncrypted ? 443 : 80) }
        guard rest.first == ":", let port = Int(rest.dropFirst()), (1...65535).contains(port) else {
            throw error(url, "the port must be a number from 1 to 65535")
        }
        return (String(host), port)
    }

    private static func error(_ url: String, _ reason: String) -> ClientError {
        ClientError(.badAddress, "\"\(url)\" is no server address: \(reason). Write it as http://127.0.0.1:8080.")
    }
}
