import Foundation

/// One NATS server on loopback.
final class NATSProcess {
    private static let program = "/usr/sbin/nats-server"
    let url: String
    private let process: ChildProcess
    private let folder: String

    /// Whether Debian's server is installed.
    static var isThere: Bool { FileManager.default.isExecutableFile(atPath: program) }

    init() throws {
        folder = NSTemporaryDirectory() + "tocsin-nats-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let port = Int.random(in: 20_000..<32_000)
        url = "nats://127.0.0.1:\(port)"
        process = try ChildProcess(
            Self.program,
            ["-a", "127.0.0.1", "-p", "\(port)"],
            environment: TestBinary.environment,
            folder: folder
        )
    }

    func end() {
        process.signal(SIGKILL)
        try? FileManager.default.removeItem(atPath: folder)
    }
}
