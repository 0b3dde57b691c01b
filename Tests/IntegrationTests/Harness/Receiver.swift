import Foundation
import Glibc
import Synchronization

/// A web server on 127.0.0.1 that keeps what it is sent and answers by a script: one request a
/// connection, a thread each.
final class Receiver: Sendable {
    struct Request: Sendable {
        var method: String
        var path: String
        /// Names in lower case.
        var headers: [String: String]
        var body: [UInt8]
    }

    let port: Int
    private let listener: Int32
    private let log = Log()

    private final class Log: Sendable {
        let requests = Mutex<[Request]>([])
    }

    /// - Parameter answer: The status for a request, given how many came before it to the same
    ///   path; nil for no answer.
    convenience init(_ answer: @escaping @Sendable (_ path: String, _ earlier: Int) -> Int?) throws {
        try self.init(saying: { path, earlier in answer(path, earlier).map { Self.empty($0) } })
    }

    /// An answer of this status without a body; the field is whole, with its end of line.
    static func empty(_ status: Int, _ field: String = "") -> String {
        "HTTP/1.1 \(status) Scripted\r\n\(field)Content-Length: 0\r\nConnection: close\r\n\r\n"
    }

    /// - Parameter answer: As above, with the whole text of the answer.
    init(saying answer: @escaping @Sendable (_ path: String, _ earlier: Int) -> String?) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { [listener] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 100) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isBound else { throw HarnessFailure("No port for a receiver.") }
        port = Int(UInt16(bigEndian: address.sin_port))
        let accept = Thread { [log, listener] in
            while case let connection = Glibc.accept(listener, nil, nil), connection >= 0 {
                Thread.detachNewThread { Self.serve(connection, log, answer) }
            }
            close(listener)
        }
        accept.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// All that came, in order.
    var everything: [Request] { log.requests.withLock { $0 } }

    func requests(_ path: String) -> [Request] { log.requests.withLock { $0.filter { $0.path == path } } }

    private static func serve(_ connection: Int32, _ log: Log, _ answer: (String, Int) -> String?) {
        defer { close(connection) }
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard let request = read(from: connection) else { return }
        let earlier = log.requests.withLock { requests in
            defer { requests.append(request) }
            return requests.count { $0.path == request.path }
        }
        guard let text = answer(request.path, earlier) else {
            var byte: UInt8 = 0
            // Until the caller gives up.
            _ = recv(connection, &byte, 1, 0)
            return
        }
        _ = text.withCString { send(connection, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
    }

    private static func read(from connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let request = parsed(bytes) { return request }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }

    private static func parsed(_ bytes: [UInt8]) -> Request? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
        }
        let body = Array(bytes[end.upperBound...])
        guard body.count >= headers["content-length"].flatMap({ Int($0) }) ?? 0 else { return nil }
        let words = lines[0].split(separator: " ").map(String.init)
        return Request(method: words[0], path: words[1], headers: headers, body: body)
    }
}
