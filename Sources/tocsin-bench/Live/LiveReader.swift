import CEpoll
import Foundation
import Glibc
import JSON

/// `tocsin-bench live-readers`: many sockets in one process of their own, on one thread, so that
/// the server's CPU is not theirs.
///
/// The first line on standard input says what to open (`ReaderOrder`). Later lines are questions:
///
/// - `until N` is answered when so many frames have come.
/// - `report` tells how long frames since the last report took from their publishing.
/// - `drain` tells how many sockets the server has cut, once those that did not read have read what
///   was left for them.
final class LiveReader {
    private let order: ReaderOrder
    /// Watches the sockets and standard input.
    private let epoll = epoll_create1(0)
    private var events = [epoll_event](repeating: epoll_event(), count: 512)
    private var connections: [Int32: ReaderConnection] = [:]
    private var opened = 0
    private var ready = 0
    private var closed = 0
    private var frames = 0
    private var bytes = 0
    private var latencies: [Int64] = []
    private var awaited: Int?
    /// Slow readers read what is left; until then at the latest.
    private var drainsUntil: Int64?
    private var input: [UInt8] = []
    private var block = [UInt8](repeating: 0, count: 1 << 18)
    /// Connections that are not ready yet; more at once would fill the server's backlog.
    private static let openingAtOnce = 128
    private static let drainNanoseconds: Int64 = 20_000_000_000

    init() throws {
        guard let line = readLine(), let order = ReaderOrder(line: line) else {
            throw BenchFailure("live-readers needs its order")
        }
        self.order = order
        var files = rlimit()
        getrlimit(__rlimit_resource_t(7), &files)
        files.rlim_cur = files.rlim_max
        setrlimit(__rlimit_resource_t(7), &files)
        watch(0)
    }

    func run() throws {
        try openMore()
        while true {
            let count = epoll_wait(epoll, &events, Int32(events.count), 1000)
            for event in events.prefix(Int(max(0, count))) {
                let descriptor = event.data.fd
                if descriptor == 0 {
                    guard readCommands() else { return }
                } else {
                    try readFrames(descriptor)
                }
            }
            answer()
        }
    }

    private func openMore() throws {
        while opened < order.count, opened - ready < Self.openingAtOnce {
            let connection = try ReaderConnection(order, index: opened)
            connections[connection.descriptor] = connection
            opened += 1
            if connection.isReady { became(ready: connection) } else { watch(connection.descriptor) }
        }
    }

    private func became(ready connection: ReaderConnection) {
        ready += 1
        if connection.isSlow { _ = epoll_ctl(epoll, EPOLL_CTL_DEL, connection.descriptor, nil) }
        if !connection.isSlow, order.kind == .raw { watch(connection.descriptor) }
        guard ready == order.count else { return }
        (frames, bytes) = (0, 0)
        Self.print(["ready": .int(Int64(ready))])
    }

    private func readFrames(_ descriptor: Int32) throws {
        guard let connection = connections[descriptor] else { return }
        let count = read(descriptor, &block, block.count)
        guard count > 0 else {
            if count < 0, errno == EAGAIN { return }
            guard connection.isReady else { throw BenchFailure("a socket was closed before it was ready") }
            return lost(connection)
        }
        let wasReady = connection.isReady
        block.withUnsafeBytes { bytes in
            connection.received(UnsafeRawBufferPointer(rebasing: bytes[..<count])) { payload in
                guard !connection.isSlow else { return }
                frames += 1
                self.bytes += payload.count + (payload.count < 126 ? 2 : 4)
                if let latency = Self.latency(payload) {
                    latencies.append(latency)
                } else if order.kind == .graphql {
                    Self.giveUp("unexpected: \(String(decoding: payload, as: UTF8.self))")
                }
            }
        }
        if connection.isCut { return lost(connection) }
        if !wasReady, connection.isReady {
            became(ready: connection)
            try openMore()
        }
    }

    /// The server has ended it: which it may do only with those that do not read.
    private func lost(_ connection: ReaderConnection) {
        guard connection.isSlow else { Self.giveUp("the server has closed a socket that reads") }
        closed += 1
        connections[connection.descriptor] = nil
        close(connection.descriptor)
    }

    /// The time since the moment in the message's title, in nanoseconds.
    private static func latency(_ payload: UnsafeRawBufferPointer) -> Int64? {
        guard let end = payload.end(of: "\"t=") else { return nil }
        var sent: Int64 = 0
        for byte in payload[end...] {
            guard byte >= 48, byte < 58 else { break }
            sent = sent &* 10 &+ Int64(byte - 48)
        }
        return Monotonic.nanoseconds() - sent
    }

    private func readCommands() -> Bool {
        let count = read(0, &block, block.count)
        guard count > 0 else { return false }
        input += block[..<count]
        while let end = input.firstIndex(of: 10) {
            let words = String(decoding: input[..<end], as: UTF8.self).split(separator: " ")
            input.removeFirst(end + 1)
            switch words.first {
            case "report": report()
            case "drain": drain()
            default: awaited = words.last.flatMap { Int($0) }
            }
        }
        return true
    }

    private func answer() {
        if let end = drainsUntil, closed == order.slow || Monotonic.nanoseconds() > end {
            drainsUntil = nil
            Self.print(["closed": .int(Int64(closed))])
        }
        guard let awaited, frames >= awaited else { return }
        self.awaited = nil
        Self.print(["frames": .int(Int64(frames))])
    }

    private func drain() {
        drainsUntil = Monotonic.nanoseconds() + Self.drainNanoseconds
        for connection in connections.values where connection.isSlow { watch(connection.descriptor) }
    }

    private func report() {
        latencies.sort()
        Self.print([
            "frames": .int(Int64(frames)), "bytes": .int(Int64(bytes)),
            "p50": .int(Percentile.of(latencies, 0.5)), "p99": .int(Percentile.of(latencies, 0.99)),
        ])
        latencies = []
    }

    private func watch(_ descriptor: Int32) {
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: descriptor))
        if epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0 { Self.giveUp("epoll_ctl failed") }
    }

    static func giveUp(_ why: String) -> Never {
        FileHandle.standardError.write(Data("live-readers: \(why)\n".utf8))
        exit(1)
    }

    private static func print(_ object: JSONObject) {
        FileHandle.standardOutput.write(Data(JSONValue.object(object).serialized() + [10]))
    }
}
