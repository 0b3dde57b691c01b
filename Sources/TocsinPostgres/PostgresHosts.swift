import CPostgres

/// The servers that a URL names, as what leads to each alone.
///
/// libpq goes on to a URL's next server only when one fails, and its `connect_timeout` holds for its blocking functions
/// alone: a server that takes a connection and says nothing would be waited for until all time is over. So each is tried by
/// itself, with a limit of its own. `target_session_attrs` means the same for one server.
struct PostgresHosts: Sendable {
    /// One for each server, in the URL's order, and for each wish; one without keywords where there is nothing to divide.
    let attempts: [Attempt]
    /// How many servers are named.
    let count: Int
    /// The URL's own limit for each server.
    let limitMilliseconds: Int?

    struct Attempt: Sendable {
        /// The server's place in the URL.
        let server: Int
        /// What libpq is told beside the URL.
        var keywords: [(name: String, value: String)] = []
    }

    init(url: String) {
        let values = Self.values(url)
        let limit = values["connect_timeout"].flatMap { Int($0) } ?? 0
        limitMilliseconds = limit > 0 ? min(max(2, limit), 3600) * 1000 : nil
        let servers = Self.servers(values)
        count = servers.count
        guard values["target_session_attrs"] == "prefer-standby", count > 1 else {
            attempts = servers
            return
        }
        attempts = ["standby", "any"].flatMap { wish in
            servers.map { Attempt(server: $0.server, keywords: $0.keywords + [("target_session_attrs", wish)]) }
        }
    }

    private static func servers(_ values: [String: String]) -> [Attempt] {
        func list(_ name: String) -> [String] {
            values[name]?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        }
        let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let count = max(hosts.count, addresses.count)
        // Lists that do not fit each other are left to libpq, which says so; so are places without a name.
        guard count > 1, [hosts, addresses].allSatisfy({ $0.isEmpty || $0.count == count && !$0.contains("") }),
            ports.count <= 1 || ports.count == count
        else { return [Attempt(server: 0)] }
        return (0..<count).map { number in
            var attempt = Attempt(server: number)
            if !hosts.isEmpty { attempt.keywords.append(("host", hosts[number])) }
            if !addresses.isEmpty { attempt.keywords.append(("hostaddr", addresses[number])) }
            if ports.count > 1 { attempt.keywords.append(("port", ports[number].isEmpty ? "5432" : ports[number])) }
            return attempt
        }
    }

    /// What the URL says, by libpq's keywords.
    private static func values(_ url: String) -> [String: String] {
        guard let options = PQconninfoParse(url, nil) else { return [:] }
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = options
        while let name = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: name)] = String(cString: value) }
            option += 1
        }
        return values
    }
}
