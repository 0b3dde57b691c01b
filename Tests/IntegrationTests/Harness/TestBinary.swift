import Foundation

/// The built binary.
enum TestBinary {
    /// `TOCSIN_BINARY`, or the binary beside the test bundle.
    static func path() throws -> String {
        if let path = ProcessInfo.processInfo.environment["TOCSIN_BINARY"] { return path }
        let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("tocsin").path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw HarnessFailure("There is no \(path). Run `swift build` first, or set TOCSIN_BINARY.")
        }
        return path
    }

    /// Runs a command to its end, with variables beside those that every process gets.
    static func run(
        _ arguments: [String],
        with variables: [String: String] = [:],
        folder: String
    ) async throws -> (status: Int32, output: String, errors: String) {
        let all = environment.merging(variables) { $1 }
        return try await ChildProcess.run(try path(), arguments, environment: all, folder: folder)
    }

    /// What a command prints, which fails the test unless it succeeds.
    static func output(
        of arguments: [String],
        with variables: [String: String] = [:],
        folder: String
    ) async throws -> String {
        let result = try await run(arguments, with: variables, folder: folder)
        guard result.status == 0 else {
            throw HarnessFailure("tocsin \(arguments.joined(separator: " ")): \(result.status), \(result.errors)")
        }
        return result.output
    }

    /// What every process gets: no setting of whoever runs the tests reaches it.
    static var environment: [String: String] {
        ProcessInfo.processInfo.environment.filter {
            ["PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH"].contains($0.key)
        }
    }
}
