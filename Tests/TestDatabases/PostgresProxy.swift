import Glibc
import Synchronization

/// Passes bytes between clients and a PostgreSQL server on this machine, until it is told to cut,
/// to stall, or to lead elsewhere.
package final class PostgresProxy: Sendable {
    private struct Orders {
        var word: String?
        var isAfterServer = false
        var thenRefuses = false
        /// Occurrences of the word that are let through before the next one is met.
        var spared = 0
        /// How many are spared between two that are met; nil when the first is the only one.
        var spacing: Int?
        var refuses = false
        var isStalled = false
        var cuts = 0
        var isClosed = false
        /// Connections of an earlier age are to be cut.
        var age = 0
        var serverPort: UInt16
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let orders: Mutex<Orders>
    private let listener: Int32
    private let port: UInt16
    private let firstPort: UInt16
    private let server: String
    /// How soon a connection that nothing passes through notices an order.
    private static let lookMilliseconds: Int32 = 20

    /// - Parameter url: A database at 127.0.0.1, with its port.
    package init(to url: String) throws {
        server = url
        firstPort = try Self.port(in: url)
        orders = Mutex(Orders(serverPort: firstPort))
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard let port = Self.listen(listener) else { throw Failure(description: "The proxy cannot listen.") }
        self.port = port
        try startThread { proxy in proxy.acceptAll() }
    }

    /// The port in a database's URL.
    package static func port(in url: String) throws -> UInt16 {
        guard let colon = url.lastIndex(of: ":"),
            let port = UInt16(url[url.index(after: colon)...].prefix { $0.isNumber })
        else { throw Failure(description: "\(url) names no port.") }
        return port
    }

    /// The database's URL through the proxy, which can read what passes.
    package var url: String {
        server.replacing(":\(firstPort)/", with: ":\(port)/") + (server.contains("?") ? "&" : "?") + "sslmode=disable"
    }

    /// Connections that were cut at a word.
    package var cuts: Int { orders.withLock { $0.cuts } }

    /// Cuts the next connection whose client says this: at once, or when the server has answered.
    package func cut(at word: String, afterServer: Bool, thenRefuses: Bool) {
        orders.withLock {
            ($0.word, $0.isAfterServer, $0.thenRefuses, $0.spared, $0.spacing) = (
                word, afterServer, thenRefuses, 0, nil
            )
        }
    }

    /// Cuts connections whose client says this, one time in so many, until `obey` is called.
    package func cut(at word: String, oneIn count: Int, afterServer: Bool) {
        orders.withLock {
            ($0.word, $0.isAfterServer, $0.thenRefuses) = (word, afterServer, false)
            ($0.spared, $0.spacing) = (count - 1, count - 1)
        }
    }

    /// Cuts all connections that there are.
    package func cutAll() { orders.withLock { $0.age += 1 } }

    /// Passes nothing on, while connections stay open and new ones are taken.
    package func stall() { orders.withLock { $0.isStalled = true } }

    /// Ends all connections at once that come.
    package func refuse() { orders.withLock { $0.refuses = true } }

    /// Passes everything on and takes connections again.
    package func accept() { orders.withLock { ($0.refuses, $0.isStalled, $0.word) = (false, false, nil) } }

    /// Leads to another server from now on, and cuts what leads to the one before.
    package func lead(to url: String) throws {
        let port = try Self.port(in: url)
        orders.withLock { orders in
            orders.serverPort = port
            orders.age += 1
        }
    }

    package func close() {
        orders.withLock { $0.isClosed = true }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func acceptAll() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            let orders = orders.withLock { $0 }
            guard client >= 0, !orders.isClosed else {
                Glibc.close(listener)
                return
            }
            guard !orders.refuses, let upstream = Self.connect(orders.serverPort) else {
                Glibc.close(client)
                continue
            }
            try? startThread { proxy in proxy.pass(client, upstream, age: orders.age) }
        }
    }

    /// Passes bytes both ways until one side ends or an order says so.
    private func pass(_ client: Int32, _ upstream: Int32, age: Int) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var isCutting = false
        while true {
            let orders = orders.withLock { $0 }
            guard orders.age == age, !orders.isClosed else { break }
            guard !orders.isStalled else {
                poll(nil, 0, Self.lookMilliseconds)
                continue
            }
            var sides = [pollfd(fd: client, events: Int16(POLLIN), revents: 0)]
            sides.append(pollfd(fd: upstream, events: Int16(POLLIN), revents: 0))
            let ready = poll(&sides, 2, Self.lookMilliseconds)
            guard ready > 0 else {
                if ready < 0, errno != EINTR { break }
                continue
            }
            // It may have been told so while it waited for these bytes.
            if self.orders.withLock({ $0.isStalled }) { continue }
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
        guard let word = orders.withLock({ $0.word }), bytes.contains(word.utf8) else { return nil }
        return orders.withLock { orders in
            guard orders.word == word else { return nil }
            guard orders.spared == 0 else {
                orders.spared -= 1
                return nil
            }
            if let spacing = orders.spacing { orders.spared = spacing } else { orders.word = nil }
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
        guard code == 0 else { throw Failure(description: "The proxy has no thread.") }
        pthread_detach(thread)
    }
}

extension PostgresProxy {
    private static func listen(_ descriptor: Int32, at port: UInt16 = 0) -> UInt16? {
        var address = loopback(port)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && Glibc.listen(descriptor, 16) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        return isListening ? UInt16(bigEndian: address.sin_port) : nil
    }

    /// A port that was free a moment ago, of those that the system gives to nobody who
    /// asks for any: until a server has been prepared for it, a connection that
    /// somebody opens does not take it.
    package static func freePort() -> UInt16? {
        for _ in 0..<100 {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { Glibc.close(descriptor) }
            if let port = listen(descriptor, at: UInt16.random(in: 15_000..<32_000)) { return port }
        }
        return nil
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
