import Foundation
import JSON

/// A program that measures on request, by lines (`scripts/peers/README.md`).
final class PeerProcess {
    private let name: String
    /// What it calls itself, with versions.
    private(set) var fullName = ""
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var pending: [UInt8] = []
    private static let startSeconds = 60.0
    /// A round may overrun by one operation, and on a busy machine a second of CPU time takes many.
    private static let patience = 20.0

    init(_ name: String, program: URL, arguments: [String], environment: [String: String] = [:]) throws {
        self.name = name
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        let line = try line(until: Date(timeIntervalSinceNow: Self.startSeconds))
        fullName = line["name"]?.stringValue ?? name
    }

    deinit { stop() }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.end()
    }

    /// What it measured; throws where it does not serve the row.
    func measure(_ row: String, _ pace: MeasurementRequest.Pace) throws -> Measurement {
        let request = MeasurementRequest(row: row, pace: pace).json.serialized() + [UInt8(ascii: "\n")]
        try input.fileHandleForWriting.write(contentsOf: Data(request))
        let patience = Self.startSeconds + pace.totalSeconds * Self.patience
        let answer = try line(until: Date(timeIntervalSinceNow: patience))
        guard let measurement = Measurement(answer) else {
            throw BenchFailure(answer["unsupported"]?.stringValue ?? "\(name) did not answer with figures")
        }
        return measurement
    }

    private func line(until deadline: Date) throws -> JSONValue {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(pending[..<end])
                pending.removeSubrange(...end)
                guard let value = try? JSONParser.parse(line) else {
                    throw BenchFailure("\(name) does not speak JSON: \(String(decoding: line, as: UTF8.self))")
                }
                return value
            }
            let descriptor = output.fileHandleForReading.fileDescriptor
            var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let milliseconds = max(0, deadline.timeIntervalSinceNow * 1000)
            guard poll(&interest, 1, Int32(milliseconds)) > 0 else {
                throw BenchFailure("\(name) did not answer in time")
            }
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { throw BenchFailure("\(name) ended before it answered") }
            pending.append(contentsOf: buffer[..<count])
        }
    }
}
