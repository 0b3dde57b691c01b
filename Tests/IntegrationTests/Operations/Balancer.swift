import Foundation
import Glibc
import Synchronization

/// A balancer of TCP connections over servers of this machine.
///
/// It asks each for `/readyz` five times a second, and gives new connections to those that say yes,
/// in turns.
final class Balancer: Sendable {
    private struct State {
        var ready: Set<Int> = []
        var turn = 0
        var isClosed = false
    }

    private final class Shared: Sendable {
        let state = Mutex(State())
    }

    private let shared = Shared()
    private let ports: [Int]
    private let listener: Int32
    /// The port at which it listens.
    let port: Int

    init(_ ports: [Int]) throws {
        self.ports = ports
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = Self.address(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = Self.with(&address) { bind(descriptor, $0, size) } == 0
        guard isBound, listen(descriptor, 128) == 0, Self.with(&address, { getsockname(descriptor, $0, &size) }) == 0
        else {
            throw HarnessFailure("The balancer cannot listen.")
        }
        port = Int(in_port_t(bigEndian: address.sin_port))
        listener = descriptor
        let shared = shared
        for port in ports { Thread.detachNewThread { Self.watch(port, shared) } }
        Thread.detachNewThread { Self.acceptAll(descriptor, ports, shared) }
    }

    func close() {
        shared.state.withLock { $0.isClosed = true }
        shutdown(listener, Int32(SHUT_RDWR))
        Glibc.close(listener)
    }

    func isReady(_ port: Int) -> Bool { shared.state.withLock { $0.ready.contains(port) } }

    private static func watch(_ port: Int, _ shared: Shared) {
        while !shared.state.withLock({ $0.isClosed }) {
            let isReady = saysReady(port)
            shared.state.withLock { state in
                if isReady { state.ready.insert(port) } else { state.ready.remove(port) }
            }
            usleep(200_000)
        }
    }

    private static func saysReady(_ port: Int) -> Bool {
        guard let descriptor = connected(port) else { return false }
        defer { Glibc.close(descriptor) }
        var time = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        let request = Array("GET /readyz HTTP/1.1\r\nHost: probe\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return false }
        var answer = [UInt8](repeating: 0, count: 64)
        let count = recv(descriptor, &answer, answer.count, 0)
        return String(decoding: answer.prefix(max(0, count)), as: UTF8.self).hasPrefix("HTTP/1.1 200 ")
    }

    private static func acceptAll(_ listener: Int32, _ ports: [Int], _ shared: Shared) {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { return }
            guard let backend = Self.backend(ports, shared) else {
                Glibc.close(client)
                continue
            }
            let pair = Pair()
            for (from, to) in [(client, backend), (backend, client)] {
                Thread.detachNewThread {
                    Self.pass(from, to)
                    guard pair.open.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
                    Glibc.close(from)
                    Glibc.close(to)
                }
            }
        }
    }

    /// Two directions of one connection; the last to end closes both sockets.
    private final class Pair: Sendable {
        let open = Atomic(2)
    }

    /// A connection to a server that is ready, the next one in its turn.
    private static func backend(_ ports: [Int], _ shared: Shared) -> Int32? {
        for _ in ports {
            let port = shared.state.withLock { state -> Int? in
                let ready = ports.filter { state.ready.contains($0) }
                guard !ready.isEmpty else { return nil }
                state.turn += 1
                return ready[state.turn % ready.count]
            }
            if let port, let descriptor = connected(port) { return descriptor }
        }
        return nil
    }

    /// Passes bytes on until there are no more.
    private static func pass(_ from: Int32, _ to: Int32) {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(from, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            var sent = 0
            while sent < count {
                let written = buffer.withUnsafeBytes {
                    send(to, $0.baseAddress?.advanced(by: sent), count - sent, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else { break }
                sent += written
            }
            guard sent == count else { break }
        }
        shutdown(to, Int32(SHUT_WR))
        shutdown(from, Int32(SHUT_RD))
    }

    private static func connected(_ port: Int) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = Self.address(port)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard with(&address, { connect(descriptor, $0, size) }) == 0 else {
            Glibc.close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }

    private static func with(
        _ address: inout sockaddr_in,
        _ body: (UnsafeMutablePointer<sockaddr>) -> Int32
    ) -> Int32 {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
    }
}
