import Foundation
import Synchronization

/// A started process, whose output goes to files; whoever starts it ends it.
final class ChildProcess: Sendable {
    let processID: Int32
    private let end: Exit
    private let outputPath: String
    private let errorPath: String

    /// Starts the executable with nothing on its standard input; its environment is the given one only.
    init(_ executable: String, _ arguments: [String], environment: [String: String], folder: String) throws {
        let name = UUID().uuidString
        outputPath = folder + "/" + name + ".out"
        errorPath = folder + "/" + name + ".err"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try Self.makeFile(outputPath)
        process.standardError = try Self.makeFile(errorPath)
        let exit = Exit()
        process.terminationHandler = { process in
            let isSignal = process.terminationReason == .uncaughtSignal
            exit.status.withLock { $0 = process.terminationStatus + (isSignal ? 128 : 0) }
        }
        try process.run()
        processID = process.processIdentifier
        self.end = exit
    }

    /// The process's end, seen by Foundation's own thread.
    private final class Exit: Sendable {
        let status = Mutex<Int32?>(nil)
    }

    /// The exit status; 128 and the number after a signal; `nil` while it runs.
    var status: Int32? { end.status.withLock { $0 } }
    var output: String { Self.text(outputPath) }
    var errors: String { Self.text(errorPath) }

    /// Sends a signal, if it still runs.
    func signal(_ number: Int32) {
        if status == nil { kill(processID, number) }
    }

    /// Waits for the end.
    @discardableResult
    func untilExit(withinSeconds seconds: Double = 60) async throws -> Int32 {
        do {
            return try await eventually("process \(processID) ends", withinSeconds: seconds) { status }
        } catch {
            signal(SIGKILL)
            throw HarnessFailure("\(error) It said: \(errors)")
        }
    }

    /// Runs a process to its end and gives what it printed.
    static func run(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String],
        folder: String
    ) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ChildProcess(executable, arguments, environment: environment, folder: folder)
        let status = try await process.untilExit()
        return (status, process.output, process.errors)
    }

    private static func makeFile(_ path: String) throws -> FileHandle {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else { throw HarnessFailure("\(path) cannot be written.") }
        return file
    }

    private static func text(_ path: String) -> String {
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
}
