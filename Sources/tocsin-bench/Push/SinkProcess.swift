import Foundation
import JSON

/// A `tocsin simulator` that records nothing, in a process of its own, so that its
/// CPU is not the sender's.
final class SinkProcess {
    let origin: String
    let authorityPath: String
    /// The key whose provider tokens the simulator would take.
    var keyPath: String { directory.appending(path: "apns.p8").path() }
    private let process: Process
    private let directory: URL

    init() throws {
        directory = try .makeTemporaryFolder("sink")
        let ready = directory.appending(path: "ready")
        process = Process(
            ServerProcess.binary,
            ["simulator", "--sink", "--directory", directory.path(), "--ready-file", ready.path()]
        )
        process.standardOutput = FileHandle.nullDevice
        try process.start()
        let found = try JSONParser.parse(try process.awaitReady(ready, within: 20))
        guard let origin = found["apns"]?.stringValue, let authority = found["authority"]?.stringValue else {
            process.end()
            throw BenchFailure("the sink did not become ready")
        }
        self.origin = origin
        authorityPath = authority
    }

    func stop() {
        process.end()
        try? FileManager.default.removeItem(at: directory)
    }
}
