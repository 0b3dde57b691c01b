import Foundation
import JSON

/// A program that measures on request, by lines (`scripts/peers/README.md`).
final class PeerProcess {
    /// Its name in the lines of the report.
    let name: String
    /// What it calls itself, with versions.
    let fullName: String
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var pending: [UInt8] = []
    private static let startSeconds = 60.0
    /// A round may overrun by one operation, a slow peer's first ones are slow, and the machine may be busy.
    private static let patience = 5.0

    init(_ name: String, program: URL, arguments: [String], environment: [String: String] = [:]) throws {
        self.name = name
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        do {
            let line = try Self.line(from: output, until: Date(timeIntervalSinceNow: Self.startSeconds), &pending)
            fullName = line["name"]?.stringValue ?? name
        } catch {
            process.terminate()
            throw error
        }
    }

    deinit { stop() }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.terminate()
        process.waitUntilExit()
    }

    /// What it measured; the reason where it does not serve the row.
    func measure(_ row: String, _ pace: MeasurementRequest.Pace) throws -> Result<Measurement, BenchFailure> {
        let line = MeasurementRequest(row: row, pace: pace).json.serialized() + [UInt8(ascii: "\n")]
        try input.fileHandleForWriting.write(contentsOf: Data(line))
        let patience = Self.startSeconds + pace.totalSeconds * Self.patience
        let answer = try Self.line(from: output, until: Date(timeIntervalSinceNow: patience), &pending)
        if let measurement = Measurement(answer) { return .success(measurement) }
        return .failure(BenchFailure(answer["unsupported"]?.stringValue ?? "it did not answer with figures"))
    }

    private static func line(from pipe: Pipe, until deadline: Date, _ pending: inout [UInt8]) throws -> JSONValue {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(pending[..<end])
                pending.removeSubrange(...end)
                return try JSONParser.parse(line)
            }
            let descriptor = pipe.fileHandleForReading.fileDescriptor
            var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let milliseconds = max(0, deadline.timeIntervalSinceNow * 1000)
            guard poll(&interest, 1, Int32(milliseconds)) > 0 else {
                throw BenchFailure("a peer did not answer in time")
            }
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { throw BenchFailure("a peer ended; its last words are above") }
            pending.append(contentsOf: buffer[..<count])
        }
    }
}
