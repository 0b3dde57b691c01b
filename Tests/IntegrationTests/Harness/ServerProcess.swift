import Foundation

/// `tocsin serve` on a folder's data.
struct ServerProcess {
    let process: ChildProcess
    /// `http://127.0.0.1:PORT`.
    let address: String

    var port: Int { Int(address.split(separator: ":").last ?? "") ?? 0 }

    /// What a test's server is told unless the test says otherwise.
    ///
    /// Most tests name what they make. An operation may wait its turn on a machine that runs all
    /// tests, above all a password's hash, which comes last.
    private static let usual = ["TOCSIN_CLIENT_IDS": "any", "TOCSIN_EXECUTION_SECONDS": "\(Int(Patience.seconds))"]

    /// Starts the server and waits until it is ready.
    init(
        folder: String,
        port: Int,
        environment: [String: String],
        options: [String] = [],
        errorDescriptor: Int32? = nil
    ) async throws {
        let readyFile = folder + "/" + UUID().uuidString + ".ready"
        let process = try ChildProcess(
            try TestBinary.path(),
            [
                "serve", "--host", "127.0.0.1", "--port", "\(port)", "--data-dir", folder + "/data", "--ready-file",
                readyFile,
            ] + options,
            environment: TestBinary.environment.merging(Self.usual) { $1 }.merging(environment) { $1 },
            folder: folder,
            errorDescriptor: errorDescriptor
        )
        self.process = process
        address = try await process.contents(of: readyFile)
    }
}

extension ChildProcess {
    /// Waits until the process has written a file, and reads it.
    func contents(of path: String) async throws -> String {
        do {
            return try await eventually("process \(processID) writes \(path)") {
                if let status { throw HarnessFailure("The process ended with \(status): \(errors)") }
                guard let text = try? String(contentsOfFile: path, encoding: .utf8), !text.isEmpty else { return nil }
                return text.trimmingCharacters(in: .whitespacesAndNewlines)
            }
        } catch {
            signal(SIGKILL)
            throw error
        }
    }
}
