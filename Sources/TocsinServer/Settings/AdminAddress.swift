import Encodings
import TocsinHTTP

/// Where the server listens for those who run it.
package enum AdminListening: Sendable, Hashable {
    /// At the socket `admin.sock` in the data directory, if that can be done.
    case standard
    /// Nowhere.
    case off
    /// At all of these, or the server does not start.
    case at([AdminAddress])

    /// The addresses, in a server with this data directory.
    package func addresses(dataDirectory: String) -> [AdminAddress] {
        switch self {
        case .standard: [.socket(path: dataDirectory + "/admin.sock")]
        case .off: []
        case .at(let addresses): addresses
        }
    }
}

/// One address of the admin listener.
package enum AdminAddress: Sendable, Hashable, CustomStringConvertible {
    /// A socket in the file system.
    case socket(path: String)
    /// An IP address, or `localhost`, and a port; 0 takes a free one.
    case network(host: String, port: Int)

    /// As the setting has it.
    package var description: String {
        switch self {
        case .socket(let path): Settings.socketPrefix + path
        case .network(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// Whether only processes of this machine reach it.
    package var isOfThisMachine: Bool {
        switch self {
        case .socket: true
        case .network(let host, _): host == "localhost" || host == "::1" || host.hasPrefix("127.")
        }
    }

    /// Reads `unix:PATH` or `ADDRESS:PORT`.
    package init?(_ text: String) {
        if text.hasPrefix(Settings.socketPrefix) {
            self = .socket(path: String(text.dropFirst(Settings.socketPrefix.count)))
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        guard host == "localhost" || IPAddress(String(host)) != nil else { return nil }
        self = .network(host: String(host), port: Int(port))
    }
}

extension SettingRules {
    private static let maximumAdminAddresses = 4

    /// Reads the value of `TOCSIN_ADMIN_LISTEN`.
    static func adminListening(_ text: String) -> Result<AdminListening, SettingProblem> {
        if text == "off" { return .success(.off) }
        let parts = text.split(separator: ",").map { $0.trimmed }.filter { !$0.isEmpty }
        guard (1...maximumAdminAddresses).contains(parts.count) else {
            return .failure("write 1 to \(maximumAdminAddresses) addresses with commas between")
        }
        var addresses: [AdminAddress] = []
        for part in parts {
            guard let address = AdminAddress(part) else {
                return .failure(
                    "write unix:PATH, 127.0.0.1:9464 or another IP address with a port, several with commas, or off"
                )
            }
            if case .socket(let path) = address, let problem = socketPathProblem(path) { return .failure(problem) }
            addresses.append(address)
        }
        return .success(.at(addresses))
    }

    /// What is wrong with the path of a socket.
    static func socketPathProblem(_ path: String) -> SettingProblem? {
        if path.isEmpty { return "write a path behind unix:, such as unix:/run/tocsin/tocsin.sock" }
        guard path.utf8.count <= UnixSocket.maximumPathBytes else {
            return
                "the path has \(path.utf8.count) bytes, and a socket's has at most \(UnixSocket.maximumPathBytes); choose a shorter one"
        }
        return nil
    }

    /// What is wrong with the address that the front listens on, as far as that can be seen.
    static func hostProblem(_ text: String) -> SettingProblem? {
        guard text.hasPrefix(Settings.socketPrefix) else { return nil }
        return socketPathProblem(String(text.dropFirst(Settings.socketPrefix.count)))
    }

    static func basePathProblem(_ text: String) -> SettingProblem? {
        let isPlain = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "/-._~".utf8.contains(byte)
        }
        let names = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard text == "/" || isPlain && text.hasPrefix("/") && text.utf8.count <= 128,
            text == "/" || names.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." })
        else {
            return "write a path that begins with a slash and does not end with one, such as /tocsin"
        }
        return nil
    }

    static func adminTokenProblem(_ text: String) -> SettingProblem? {
        guard text.utf8.count >= 16, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return "write 16 or more letters, digits and signs, such as the output of: openssl rand -hex 24"
        }
        return nil
    }
}
