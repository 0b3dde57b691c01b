import Foundation

/// Plain sockets on this machine.
enum Loopback {
    static let host: UInt32 = 0x7F00_0001

    /// A blocking connection that sends at once; the caller closes it.
    static func connect(port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard call(Foundation.connect, descriptor, host, port) else {
            close(descriptor)
            throw BenchFailure("cannot connect to port \(port)")
        }
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }

    /// Calls `bind` or `connect` with an address; answers whether that was done.
    static func call(
        _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32,
        _ descriptor: Int32,
        _ host: UInt32,
        _ port: UInt16
    ) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        } == 0
    }
}

/// The clock that all processes of this machine share.
enum Monotonic {
    static func nanoseconds() -> Int64 { read(CLOCK_MONOTONIC) }

    /// The CPU time of the calling thread.
    static func threadCPU() -> Double { Double(read(CLOCK_THREAD_CPUTIME_ID)) / 1e9 }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

enum Percentile {
    /// The value at this part of a sorted list; 0 for an empty one.
    static func of<Value: FixedWidthInteger>(_ sorted: [Value], _ part: Double) -> Value {
        sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }
}
