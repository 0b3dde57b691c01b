import Foundation
import JSON

/// A `live-readers` process and what it has seen.
final class ReaderProcess {
    /// What the readers report.
    struct Seen {
        var frames: Int
        var bytes: Int
        /// From the publishing to the socket, in milliseconds.
        var p50: Double
        var p99: Double
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var pending: [UInt8] = []

    /// Opens the sockets; returns when all are ready.
    init(_ order: ReaderOrder) throws {
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = ["live-readers"]
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        input.fileHandleForWriting.write(Data(order.line))
        guard try answer()["ready"] != nil else { throw BenchFailure("the readers are not ready") }
    }

    /// Returns as soon as so many frames have come in all.
    func wait(until frames: Int) throws {
        input.fileHandleForWriting.write(Data("until \(frames)\n".utf8))
        _ = try answer()
    }

    /// What has come; latencies are those since the last report.
    func report() throws -> Seen {
        input.fileHandleForWriting.write(Data("report\n".utf8))
        let answer = try answer()
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
        input.fileHandleForWriting.write(Data("drain\n".utf8))
        return Int(try answer()["closed"]?.intValue ?? 0)
    }

    func stop() { process.end() }

    private func answer() throws -> JSONValue {
        while true {
            if let end = pending.firstIndex(of: 10) {
                defer { pending.removeFirst(end + 1) }
                return try JSONParser.parse(Array(pending[..<end]))
            }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw BenchFailure("the readers have ended") }
            pending += data
        }
    }
}

/// A peer's program: it prints its port, then sends rounds to whoever is connected.
final class BroadcastPeer {
    let port: UInt16
    private let process = Process()
    private let input = Pipe()

    init?(_ program: URL?, _ arguments: [String]) throws {
        guard let program, FileManager.default.isExecutableFile(atPath: program.path()) else { return nil }
        let output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = UInt16(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            process.end()
            throw BenchFailure("\(program.lastPathComponent) told no port")
        }
        self.port = port
    }

    var pid: Int32 { process.processIdentifier }

    /// Sends so many frames to every socket.
    func round(_ frames: Int) { input.fileHandleForWriting.write(Data("\(frames)\n".utf8)) }

    func stop() { process.end() }
}
