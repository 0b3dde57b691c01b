import Foundation
import Glibc
import Synchronization

/// A server on 127.0.0.1 that reads one request from each connection and answers with given bytes.
///
/// Each connection has a thread; none waits longer than two minutes.
final class LoopbackServer: Sendable {
    let port: Int
    private let listener: Int32
    private let log = Log()

    private final class Log: Sendable {
        let requests = Mutex<[String]>([])
    }

    /// `answer` gets the request's text; nil holds the connection open in silence.
    init(_ answer: @escaping @Sendable (String) -> String?) throws {
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
        struct Unbound: Error {}
        guard isBound else { throw Unbound() }
        port = Int(UInt16(bigEndian: address.sin_port))
        let accept = Thread { [log, listener] in
            while case let connection = Glibc.accept(listener, nil, nil), connection >= 0 {
                Thread {
                    let text = Self.request(from: connection)
                    log.requests.withLock { $0.append(text) }
                    Self.finish(connection, answer(text))
                }.start()
            }
            // Only the thread that accepts closes: a number closed elsewhere could be another
            // server's by its next accept.
            close(listener)
        }
        accept.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    var address: String { "http://127.0.0.1:\(port)" }
    var received: [String] { log.requests.withLock { $0 } }

    /// Head and body, the latter as long as its Content-Length says.
    private static func request(from connection: Int32) -> String {
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isWhole(text) {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        return text
    }

    private static func isWhole(_ text: String) -> Bool {
        guard let end = text.firstRange(of: "\r\n\r\n") else { return false }
        let length = text[..<end.lowerBound].split(separator: "\r\n")
            .first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).drop { $0 == " " }) }
        return text[end.upperBound...].utf8.count >= length ?? 0
    }

    private static func finish(_ connection: Int32, _ answer: String?) {
        defer { close(connection) }
        guard let answer else {
            var byte: UInt8 = 0
            _ = recv(connection, &byte, 1, 0)
            return
        }
        let bytes = Array(answer.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(connection, $0.baseAddress?.advanced(by: sent), $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }
}
