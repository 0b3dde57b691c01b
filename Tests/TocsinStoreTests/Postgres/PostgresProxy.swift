import Glibc
import Synchronization
import Testing

/// Passes bytes between clients and a PostgreSQL server on this machine, until it is told to cut a connection.
final class PostgresProxy: Sendable {
    private struct Orders {
        var word: String?
        var isAfterServer = false
        var thenRefuses = false
        var refuses = false
        var cuts = 0
        var isClosed = false
    }

    private let orders = Mutex(Orders())
    private let listener: Int32
    private let port: UInt16
    private let serverPort: UInt16
    private let server: String

    /// - Parameter url: A database at 127.0.0.1, with its port.
    init(to url: String) throws {
        server = url
        let colon = try #require(url.lastIndex(of: ":"))
        serverPort = try #require(UInt16(url[url.index(after: colon)...].prefix { $0.isNumber }))
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        port = try #require(Self.listen(listener))
        try startThread { proxy in proxy.acceptAll() }
    }

    /// The database through the proxy, without TLS, which would hide what is said.
    var url: String { server.replacing(":\(serverPort)/", with: ":\(port)/") + "?sslmode=disable" }
    /// Connections that were cut as ordered.
    var cuts: Int { orders.withLock { $0.cuts } }

    /// Cuts the next connection whose client says this: at once, or when the server has answered.
    func cut(at word: String, afterServer: Bool, thenRefuses: Bool) {
        orders.withLock { ($0.word, $0.isAfterServer, $0.thenRefuses) = (word, afterServer, thenRefuses) }
    }

    /// Takes connections again.
    func accept() { orders.withLock { $0.refuses = false } }

    func close() {
        orders.withLock { $0.isClosed = true }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func acceptAll() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            let (refuses, isClosed) = orders.withLock { ($0.refuses, $0.isClosed) }
            guard client >= 0, !isClosed else {
                Glibc.close(listener)
                return
            }
            guard !refuses, let upstream = Self.connect(serverPort) else {
                Glibc.close(client)
                continue
            }
            try? startThread { proxy in proxy.pass(client, upstream) }
        }
    }

    /// Passes bytes both ways until one side ends or an order says so.
    private func pass(_ client: Int32, _ upstream: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var isCutting = false
        while true {
            var sides = [pollfd(fd: client, events: Int16(POLLIN), revents: 0)]
            sides.append(pollfd(fd: upstream, events: Int16(POLLIN), revents: 0))
            guard poll(&sides, 2, 600_000) > 0 else { break }
            let isClient = sides[0].revents != 0
            let count = read(isClient ? client : upstream, &buffer, buffer.count)
            guard count > 0 else { break }
            if isClient, let order = orderMet(by: buffer[..<count]) {
                guard order.isAfterServer else { break }
                isCutting = true
            }
            // What the server answered to it goes nowhere.
            if !isClient, isCutting { break }
            guard write(isClient ? upstream : client, buffer, count) == count else { break }
        }
        Glibc.close(client)
        Glibc.close(upstream)
    }

    private func orderMet(by bytes: ArraySlice<UInt8>) -> (isAfterServer: Bool, Void)? {
        orders.withLock { orders in
            guard let word = orders.word, bytes.contains(word.utf8) else { return nil }
            orders.word = nil
            orders.cuts += 1
            orders.refuses = orders.thenRefuses
            return (orders.isAfterServer, ())
        }
    }

    private func startThread(_ body: @escaping @Sendable (PostgresProxy) -> Void) throws {
        final class Box: Sendable {
            let run: @Sendable () -> Void
            init(_ run: @escaping @Sendable () -> Void) { self.run = run }
        }
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Box { body(self) })
        let code = pthread_create(
            &thread,
            nil,
            { raw in
                if let raw { Unmanaged<Box>.fromOpaque(raw).takeRetainedValue().run() }
                return nil
            },
            box.toOpaque()
        )
        try #require(code == 0)
        pthread_detach(thread)
    }

    private static func listen(_ descriptor: Int32) -> UInt16? {
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && Glibc.listen(descriptor, 16) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        return isListening ? UInt16(bigEndian: address.sin_port) : nil
    }

    private static func connect(_ port: UInt16) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(port)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else {
            Glibc.close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }
}
