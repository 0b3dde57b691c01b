import Glibc
package import JSON
import TocsinHTTP

/// Speaks to the admin listener of a running server, a request a connection.
package struct AdminClient: Sendable {
    /// What the server answered.
    package struct Answer: Sendable {
        /// The status of HTTP.
        package let status: Int
        /// The body, which is JSON but for metrics.
        package let body: [UInt8]

        /// Whether it did what it was asked.
        package var isOK: Bool { (200..<300).contains(status) }

        /// The body as JSON; nil where it is none.
        package var json: JSONValue? { try? JSONParser.parse(body) }

        /// What the server said was wrong.
        package var fault: String {
            json?["error"]?["message"]?.stringValue ?? "The server answered with status \(status)."
        }
    }

    /// Why there is no answer, in a sentence that says what to do.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        /// What happened, and what to do.
        package let description: String
    }

    private static let maximumBytes = 64 << 20
    private let address: AdminAddress
    private let token: String?

    /// A client of the listener at this address; `token` is shown over the network.
    package init(_ address: AdminAddress, token: Secret?) {
        self.address = address
        self.token = token?.contents
    }

    /// The address that the settings name, the socket before others.
    ///
    /// Throws where they say that there is none.
    package static func address(of settings: Settings) throws(Failure) -> AdminAddress {
        let addresses = settings.admin.listening.addresses(dataDirectory: settings.server.dataDirectory)
        let socket = addresses.first { if case .socket = $0 { true } else { false } }
        guard let address = socket ?? addresses.first else {
            throw Failure(
                description: "TOCSIN_ADMIN_LISTEN is off: the server has no admin listener. Set it and restart."
            )
        }
        return address
    }

    /// Sends a request and waits for its answer, for ever or for so many seconds.
    package func send(
        _ method: String,
        _ path: String,
        _ body: JSONValue? = nil,
        timeoutSeconds: Int? = nil
    ) throws(Failure) -> Answer {
        let descriptor = try connected()
        defer { close(descriptor) }
        if let timeoutSeconds {
            var time = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
            let size = socklen_t(MemoryLayout<timeval>.size)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, size)
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
        }
        do throws(SystemFile.Failure) {
            try Self.send(request(method, path, body), to: descriptor)
            return try Self.answer(try SystemFile.rest(of: descriptor, maximumBytes: Self.maximumBytes))
        } catch {
            throw Failure(
                description: "The server at \(address) did not answer: \(error.reason). Look at its log, or try again."
            )
        }
    }

    /// Writes all of it; a server that has closed ends no process of ours.
    private static func send(_ bytes: [UInt8], to descriptor: Int32) throws(SystemFile.Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemFile.Failure(reason: String(cString: strerror(errno))) }
            rest = rest.dropFirst(count)
        }
    }

    private func request(_ method: String, _ path: String, _ body: JSONValue?) -> [UInt8] {
        var head = "\(method) \(path) HTTP/1.1\r\nhost: admin\r\nconnection: close\r\naccept: application/json\r\n"
        if let token { head += "authorization: Bearer \(token)\r\n" }
        let bytes = body?.serialized() ?? []
        if method != "GET" { head += "content-type: application/json\r\ncontent-length: \(bytes.count)\r\n" }
        return Array((head + "\r\n").utf8) + bytes
    }

    /// The status and what follows the empty line: our own server sends bodies whole.
    private static func answer(_ bytes: [UInt8]) throws(SystemFile.Failure) -> Answer {
        let text = bytes.prefix { $0 != UInt8(ascii: "\n") }
        let words = text.split(separator: UInt8(ascii: " "))
        guard words.count >= 2, words[0].starts(with: Array("HTTP/1.".utf8)),
            let status = Int(String(decoding: words[1], as: UTF8.self))
        else { throw SystemFile.Failure(reason: bytes.isEmpty ? "it closed the connection" : "it speaks no HTTP") }
        let end = Array("\r\n\r\n".utf8)
        guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else {
            throw SystemFile.Failure(reason: "its answer was cut off")
        }
        return Answer(status: status, body: Array(bytes[(start + end.count)...]))
    }
}

extension AdminClient {
    private func connected() throws(Failure) -> Int32 {
        switch address {
        case .socket(let path):
            do throws(UnixSocket.ConnectFailure) {
                return try UnixSocket(path).connected()
            } catch {
                throw Failure(description: Self.sentence(error, path))
            }
        case .network(let host, let port):
            guard let descriptor = Self.connection(host == "localhost" ? "127.0.0.1" : host, port) else {
                throw Failure(
                    description:
                        "Nobody answers at \(address): \(String(cString: strerror(errno))). Start the server with "
                        + "`tocsin serve`, or name its address by --admin-listen."
                )
            }
            return descriptor
        }
    }

    private static func sentence(_ failure: UnixSocket.ConnectFailure, _ path: String) -> String {
        switch failure {
        case .absent:
            "No server runs here: there is no socket \(path). Start one with `tocsin serve`, or name its data directory by "
                + "--data-dir, or its socket by --admin-listen unix:PATH."
        case .deserted:
            "No server runs here: its socket \(path) is left over from one that has died. Start it with `tocsin serve`."
        case .forbidden:
            "This user may not use the socket \(path): only the server's own user and root may. Try: sudo -u tocsin tocsin "
                + "admin …"
        case .other(let reason): "The socket \(path) cannot be used: \(reason)."
        }
    }

    /// A connection by TCP; nil and `errno` where there is none.
    private static func connection(_ host: String, _ port: Int) -> Int32? {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &found) == 0, let first = found else {
            errno = EINVAL
            return nil
        }
        defer { freeaddrinfo(first) }
        let descriptor = socket(first.pointee.ai_family, first.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        guard connect(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0 else {
            let code = errno
            close(descriptor)
            errno = code
            return nil
        }
        return descriptor
    }
}
