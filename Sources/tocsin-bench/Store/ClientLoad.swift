import CEpoll
import Foundation
import Glibc

/// Many clients, each with a connection and one request under way, driven by one thread that
/// costs as little as it can.
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

    /// Drives the clients on a thread of its own; `measured` is called when counting
    /// begins and when it ends.
    func run(measured: @escaping @Sendable () -> Void) async throws -> Outcome {
        let load = self
        return try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Result { try load.drive(measured) }) }
            thread.start()
        }
    }

    /// Keeps this thread on the last processor, where it stops nobody who runs.
    ///
    /// Clients on other machines do not stop the server each time they get an answer. The system
    /// puts a thread where whoever woke it runs, and lets it go first, while the other processor is
    /// idle: so the server made a quarter less messages.
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
        var connections: [LoadConnection] = []
        defer { for connection in connections { connection.close() } }
        for (index, client) in clients.enumerated() {
            connections.append(try LoadConnection(port: client.port))
            var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: UInt64(index)))
            guard epoll_ctl(poll, EPOLL_CTL_ADD, connections[index].descriptor, &event) == 0 else {
                throw BenchFailure("epoll takes no more connections")
            }
        }
        return try answer(poll, connections, measured)
    }

    private func answer(
        _ poll: Int32,
        _ connections: [LoadConnection],
        _ measured: () -> Void
    ) throws -> Outcome {
        var outcome = Outcome()
        var sentAt = [Int64](repeating: 0, count: connections.count)
        for (index, connection) in connections.enumerated() {
            sentAt[index] = Monotonic.nanoseconds()
            try connection.send(clients[index].request)
        }
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
                guard try connections[index].readOn() != nil else { continue }
                let received = Monotonic.nanoseconds()
                if counted != nil { outcome.latencies.append(UInt32(clamping: (received - sentAt[index]) / 1000)) }
                sentAt[index] = received
                try connections[index].send(clients[index].request)
            }
        }
        measured()
        outcome.seconds = Double(Monotonic.nanoseconds() - (counted?.start ?? begin)) / 1e9
        outcome.cpuSeconds = Monotonic.threadCPU() - (counted?.cpu ?? 0)
        outcome.latencies.sort()
        return outcome
    }
}
