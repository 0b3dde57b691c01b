import Foundation
import JSON

/// A `live-readers` process and what it has seen.
struct ReaderProcess {
    /// What the readers report.
    struct Seen {
        var frames: Int
        var bytes: Int
        /// From the publishing to the socket, in milliseconds.
        var p50: Double
        var p99: Double
    }

    private let process: LineProcess

    /// Opens the sockets; returns when all are ready.
    init(_ order: ReaderOrder) throws {
        process = try LineProcess(URL(filePath: CommandLine.arguments[0]), ["live-readers"])
        try process.send(order.line)
        guard try process.answer()["ready"] != nil else { throw BenchFailure("the readers are not ready") }
    }

    /// Returns as soon as so many frames have come in all.
    func wait(until frames: Int) throws {
        try process.send(Array("until \(frames)".utf8))
        _ = try process.answer()
    }

    /// What has come; latencies are those since the last report.
    func report() throws -> Seen {
        try process.send(Array("report".utf8))
        let answer = try process.answer()
        func number(_ name: String) -> Int { Int(answer[name]?.intValue ?? 0) }
        return Seen(
            frames: number("frames"),
            bytes: number("bytes"),
            p50: Double(number("p50")) / 1e6,
            p99: Double(number("p99")) / 1e6
        )
    }

    /// Lets those that did not read do so; answers how many of them the server had cut.
    func drain() throws -> Int {
        try process.send(Array("drain".utf8))
        return Int(try process.answer()["closed"]?.intValue ?? 0)
    }

    func stop() { process.stop() }
}

/// A peer's program: it prints its port, then sends rounds to whoever is connected.
struct BroadcastPeer {
    let port: UInt16
    private let process: LineProcess

    init?(_ program: URL?, _ arguments: [String]) throws {
        guard let program, FileManager.default.isExecutableFile(atPath: program.path()) else { return nil }
        process = try LineProcess(program, arguments)
        guard let port = UInt16(String(decoding: try process.line(), as: UTF8.self)) else {
            throw BenchFailure("\(program.lastPathComponent) told no port")
        }
        self.port = port
    }

    var pid: Int32 { process.pid }

    /// Sends so many frames to every socket.
    func round(_ frames: Int) throws { try process.send(Array("\(frames)".utf8)) }

    func stop() { process.stop() }
}
