import CPostgres

/// The servers that a URL names, as what leads to each alone.
///
/// libpq goes on to a URL's next server only when one fails, and its `connect_timeout` counts for
/// its blocking functions alone. A server that accepts a connection and says nothing would be
/// waited for without end. So each server is tried by itself, with a limit of its own.
/// `target_session_attrs` means the same for one server; a random order of servers is made here.
struct PostgresHosts: Sendable {
    /// The URL as libpq takes it.
    let url: String
    /// One for each server, in the URL's order, for each wish in turn; one without keywords where
    /// there is nothing to divide.
    let rounds: [[Attempt]]
    /// How many servers are named.
    let count: Int
    /// The URL's own limit for each server.
    let limitMilliseconds: Int?
    /// Whether each round begins anywhere and goes on anywhere.
    private let isShuffled: Bool

    struct Attempt: Sendable {
        /// The server's index in the URL.
        let server: Int
        /// What libpq is told beside the URL.
        var keywords: [(name: String, value: String)] = []
    }

    init(url: String) {
        let balance: String?
        (self.url, balance) = LoadBalance.divide(url)
        isShuffled = balance == LoadBalance.random
        let values = Self.values(self.url)
        let limit = values["connect_timeout"].flatMap { Int($0) } ?? 0
        limitMilliseconds = limit > 0 ? min(max(2, limit), 3600) * 1000 : nil
        let servers = Self.servers(values)
        count = servers.count
        guard values["target_session_attrs"] == "prefer-standby", count > 1 else {
            rounds = [servers]
            return
        }
        rounds = ["standby", "any"].map { wish in
            servers.map { Attempt(server: $0.server, keywords: $0.keywords + [("target_session_attrs", wish)]) }
        }
    }

    /// All attempts in the order in which they are made, `randomUnit` being a number in 0..<1.
    func attempts(_ randomUnit: () -> Double) -> [Attempt] {
        guard isShuffled else { return rounds.flatMap { $0 } }
        return rounds.flatMap { round in
            var (rest, shuffled) = (round, [Attempt]())
            while !rest.isEmpty { shuffled.append(rest.remove(at: Int(randomUnit() * Double(rest.count)))) }
            return shuffled
        }
    }

    private static func servers(_ values: [String: String]) -> [Attempt] {
        func list(_ name: String) -> [String] {
            values[name]?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        }
        let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let count = max(hosts.count, addresses.count)
        // Lists that do not fit each other are left to libpq, which says so; so are servers without
        // a name.
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

/// `load_balance_hosts`, which a URL may hold that libpq knows from version 16 on.
enum LoadBalance {
    static let random = "random"
    private static let name = "load_balance_hosts"

    /// The URL, without the word where this libpq does not know it, and its last value.
    static func divide(_ url: String) -> (url: String, value: String?) {
        guard let mark = url.firstIndex(of: "?") else { return (url, nil) }
        let parts = url[mark...].dropFirst().split(separator: "&", omittingEmptySubsequences: false)
        let rest = parts.filter { !$0.hasPrefix(name + "=") }
        guard rest.count < parts.count else { return (url, nil) }
        let value = parts.last { $0.hasPrefix(name + "=") }?.dropFirst(name.utf8.count + 1)
        let bare = url[..<mark] + (rest.isEmpty ? "" : "?" + rest.joined(separator: "&"))
        return (isKnown ? url : String(bare), value.map { String($0) })
    }

    /// What is wrong with the URL's value; nil when nothing is.
    static func problem(_ url: String) -> String? {
        guard let value = divide(url).value, ![random, "disable"].contains(value) else { return nil }
        return "\(name) is random or disable"
    }

    private static var isKnown: Bool {
        guard let options = PQconninfoParse("postgres:///?\(name)=\(random)", nil) else { return false }
        PQconninfoFree(options)
        return true
    }
}
