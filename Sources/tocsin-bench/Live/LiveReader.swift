import Foundation
import Glibc
import JSON

/// `tocsin-bench live-readers`: many sockets in one process of their own, on one thread, so that the server's CPU is not
/// theirs.
///
/// The first line on standard input says what to open (`ReaderOrder`); then `until N` is answered when so many frames
/// have come, and `report` with how long frames since the last report took from their publishing.
final class LiveReader {
    private let order: ReaderOrder
    /// What poll(2) watches: standard input first.
    private var watched: [pollfd] = []
    private var connections: [Int32: ReaderConnection] = [:]
    private var opened = 0
    private var ready = 0
    private var closed = 0
    private var frames = 0
    private var bytes = 0
    private var latencies: [Int64] = []
    private var awaited: Int?
    private var input: [UInt8] = []
    private var block = [UInt8](repeating: 0, count: 1 << 18)
    /// Connections that are not ready yet; more at once would fill the server's backlog.
    private static let openingAtOnce = 128

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
            guard poll(&watched, nfds_t(watched.count), -1) > 0 else { continue }
            let ready = watched.filter { $0.revents != 0 }.map(\.fd)
            for descriptor in ready {
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
        if connection.isSlow { watched.removeAll { $0.fd == connection.descriptor } }
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
            closed += 1
            connections[descriptor] = nil
            watched.removeAll { $0.fd == descriptor }
            close(descriptor)
            return
        }
        let wasReady = connection.isReady
        block.withUnsafeBytes { bytes in
            connection.received(UnsafeRawBufferPointer(rebasing: bytes[..<count])) { payload in
                frames += 1
                self.bytes += payload.count + (payload.count < 126 ? 2 : 4)
                if let latency = Self.latency(payload) { latencies.append(latency) }
            }
        }
        if !wasReady, connection.isReady {
            became(ready: connection)
            try openMore()
        }
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
            words.first == "report" ? report() : (awaited = words.last.flatMap { Int($0) })
        }
        return true
    }

    private func answer() {
        guard let awaited, frames >= awaited else { return }
        self.awaited = nil
        Self.print(["frames": .int(Int64(frames))])
    }

    private func report() {
        latencies.sort()
        Self.print([
            "frames": .int(Int64(frames)), "bytes": .int(Int64(bytes)), "closed": .int(Int64(closed)),
            "p50": .int(Percentile.of(latencies, 0.5)), "p99": .int(Percentile.of(latencies, 0.99)),
        ])
        latencies = []
    }

    private func watch(_ descriptor: Int32) {
        watched.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    }

    private static func print(_ object: JSONObject) {
        FileHandle.standardOutput.write(Data(JSONValue.object(object).serialized() + [10]))
    }
}

/// The clock that all processes of this machine share.
enum Monotonic {
    static func nanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

enum Percentile {
    /// Of sorted values; 0 of none.
    static func of(_ sorted: [Int64], _ part: Double) -> Int64 {
        sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }
}

extension UnsafeRawBufferPointer {
    /// The place after the first occurrence of a text.
    func end(of text: StaticString) -> Int? {
        guard count >= text.utf8CodeUnitCount else { return nil }
        return text.withUTF8Buffer { text in
            for start in 0...(count - text.count) where self[start] == text[0] {
                if self[start..<(start + text.count)].elementsEqual(text) { return start + text.count }
            }
            return nil
        }
    }
}
