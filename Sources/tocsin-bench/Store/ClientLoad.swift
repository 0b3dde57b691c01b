import CEpoll
import Foundation
import Glibc

/// Many clients, each with a connection and one request under way, driven by one thread that costs as little as it can.
struct ClientLoad {
    /// One for each client, to the node that it is connected to.
    var clients: [(port: UInt16, request: [UInt8])]
    var seconds: Double
    private static let warmUpSeconds = 0.7

    /// What the clients saw after the first moments, which are not counted.
    struct Outcome: Sendable {
        var seconds = 0.0
        /// CPU time of the thread that drove the clients.
        var cpuSeconds = 0.0
        /// Microseconds from request to response, rising.
        var latencies: [UInt32] = []

        var count: Int { latencies.count }

        /// Milliseconds below which this part of the answers came.
        func milliseconds(_ part: Double) -> Double { Double(Percentile.of(latencies, part)) / 1000 }
    }

    /// Drives the clients on a thread of its own; `measured` is called when counting begins and when it ends.
    func run(measured: @escaping @Sendable () -> Void) async throws -> Outcome {
        let load = self
        return try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Result { try load.drive(measured) }) }
            thread.start()
        }
    }

    /// Keeps this thread on the last processor, where it stops nobody who runs.
    ///
    /// Clients on other machines do not stop the server each time they get an answer. The system puts a thread where whoever
    /// woke it runs, and lets it go first, while the other processor is idle: so the server made a quarter less messages.
    private static func stayAside() {
        let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        guard processors > 1, stay_on_processor(UInt32(processors - 1)) == 0 else { return }
        _ = run_as_batch()
    }

    private func drive(_ measured: () -> Void) throws -> Outcome {
        Self.stayAside()
        let poll = epoll_create1(0)
        guard poll >= 0 else { throw BenchFailure("no epoll") }
        defer { close(poll) }
        var sockets: [LoadSocket] = []
        defer { for socket in sockets { socket.close() } }
        for (index, client) in clients.enumerated() {
            sockets.append(try LoadSocket(port: client.port))
            var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: UInt64(index)))
            guard epoll_ctl(poll, EPOLL_CTL_ADD, sockets[index].descriptor, &event) == 0 else {
                throw BenchFailure("epoll takes no more connections")
            }
            try sockets[index].send(client.request, at: Monotonic.nanoseconds())
        }
        return try answer(poll, sockets, measured)
    }

    private func answer(_ poll: Int32, _ sockets: [LoadSocket], _ measured: () -> Void) throws -> Outcome {
        var outcome = Outcome()
        outcome.latencies.reserveCapacity(1 << 20)
        var events = [epoll_event](repeating: epoll_event(), count: 256)
        var counted: (start: Int64, cpu: Double)?
        let begin = Monotonic.nanoseconds() + Int64(Self.warmUpSeconds * 1e9)
        let end = begin + Int64(seconds * 1e9)
        while true {
            let ready = epoll_wait(poll, &events, Int32(events.count), 1000)
            let now = Monotonic.nanoseconds()
            if now >= end { break }
            if counted == nil, now >= begin {
                measured()
                counted = (now, Monotonic.threadCPU())
            }
            for event in events[..<max(0, Int(ready))] {
                let index = Int(event.data.u64)
                guard let sent = try sockets[index].receive() else { continue }
                let received = Monotonic.nanoseconds()
                if counted != nil { outcome.latencies.append(UInt32(clamping: (received - sent) / 1000)) }
                try sockets[index].send(clients[index].request, at: received)
            }
        }
        measured()
        outcome.seconds = Double(Monotonic.nanoseconds() - (counted?.start ?? begin)) / 1e9
        outcome.cpuSeconds = Monotonic.threadCPU() - (counted?.cpu ?? 0)
        outcome.latencies.sort()
        return outcome
    }
}

/// One connection with at most one request under way.
private final class LoadSocket {
    let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 16_384)
    private var filled = 0
    private var sentAt: Int64 = 0
    private static let lengthNames = ["content-length: ", "Content-Length: "].map { Array($0.utf8) }
    private static let headEnd = Array("\r\n\r\n".utf8)
    private static let errors = Array("\"errors\"".utf8)

    init(port: UInt16) throws {
        descriptor = try Loopback.connect(port: port)
    }

    func close() { Glibc.close(descriptor) }

    /// Requests are far smaller than a socket's buffer, so one write takes all.
    func send(_ request: [UInt8], at moment: Int64) throws {
        sentAt = moment
        guard write(descriptor, request, request.count) == request.count else {
            throw BenchFailure("the connection broke while sending")
        }
    }

    /// Reads what has come; when the response was complete since which moment it was awaited.
    func receive() throws -> Int64? {
        let count = buffer.withUnsafeMutableBytes {
            read(descriptor, $0.baseAddress?.advanced(by: filled), $0.count - filled)
        }
        guard count > 0 else { throw BenchFailure("the connection broke while reading") }
        filled += count
        guard let bodyStart = offset(of: Self.headEnd, before: filled).map({ $0 + 4 }) else { return nil }
        guard filled >= bodyStart + contentLength(before: bodyStart) else { return nil }
        if offset(of: Self.errors, before: filled) != nil {
            throw BenchFailure(
                "the server answered an error: \(String(decoding: buffer[bodyStart..<filled], as: UTF8.self))"
            )
        }
        filled = 0
        return sentAt
    }

    private func contentLength(before end: Int) -> Int {
        for name in Self.lengthNames {
            guard let offset = offset(of: name, before: end) else { continue }
            return buffer[(offset + name.count)..<end].prefix { $0 >= 0x30 && $0 <= 0x39 }.reduce(0) {
                $0 * 10 + Int($1 - 0x30)
            }
        }
        return 0
    }

    private func offset(of text: [UInt8], before end: Int) -> Int? {
        guard end >= text.count else { return nil }
        return (0...(end - text.count)).first { start in
            buffer[start] == text[0] && buffer[start..<(start + text.count)].elementsEqual(text)
        }
    }
}
