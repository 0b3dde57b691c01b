import Foundation
import JSON

/// A program that is spoken to by lines.
final class LineProcess {
    private let process: Process
    private let input = Pipe()
    private let output = Pipe()
    private var pending: [UInt8] = []

    init(_ program: URL, _ arguments: [String], environment: [String: String] = [:]) throws {
        process = Process(program, arguments, environment: environment)
        process.standardInput = input
        process.standardOutput = output
        try process.start()
    }

    deinit { stop() }

    var pid: Int32 { process.processIdentifier }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.end()
    }

    func send(_ line: [UInt8]) throws {
        try input.fileHandleForWriting.write(contentsOf: Data(line + [UInt8(ascii: "\n")]))
    }

    /// The next line as JSON.
    func answer(within seconds: Double = 600) throws -> JSONValue {
        let line = try line(within: seconds)
        guard let value = try? JSONParser.parse(line) else {
            throw failure("does not speak JSON: \(String(decoding: line, as: UTF8.self))")
        }
        return value
    }

    /// The next line.
    func line(within seconds: Double = 600) throws -> [UInt8] {
        let deadline = Date(timeIntervalSinceNow: seconds)
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                defer { pending.removeSubrange(...end) }
                return Array(pending[..<end])
            }
            let descriptor = output.fileHandleForReading.fileDescriptor
            var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let milliseconds = max(0, deadline.timeIntervalSinceNow * 1000)
            guard poll(&interest, 1, Int32(milliseconds)) > 0 else { throw failure("did not answer in time") }
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { throw failure("ended before it answered") }
            pending.append(contentsOf: buffer[..<count])
        }
    }

    private func failure(_ words: String) -> BenchFailure {
        BenchFailure("\(process.executableURL?.lastPathComponent ?? "a program") \(words)")
    }
}
