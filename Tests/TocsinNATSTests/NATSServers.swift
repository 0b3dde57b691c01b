import Foundation
import Glibc

/// NATS servers of one cluster on loopback, ended with the value.
final class NATSServers {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var processes: [Process] = []
    let ports: [Int]
    private let clusterPorts: [Int]
    private let folder: String

    /// Where Debian's `nats-server` is; nil where it is not installed.
    static let program = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Starts so many, each knowing all.
    init(_ count: Int) throws {
        folder = NSTemporaryDirectory() + "nats-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        (ports, clusterPorts) = (try Self.freePorts(count), try Self.freePorts(count))
        for index in 0..<count { processes.append(try start(index)) }
    }

    deinit {
        for process in processes where process.isRunning {
            Glibc.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(atPath: folder)
    }

    var urls: String { ports.map { "nats://127.0.0.1:\($0)" }.joined(separator: ",") }

    func kill(_ index: Int) {
        Glibc.kill(processes[index].processIdentifier, SIGKILL)
        processes[index].waitUntilExit()
    }

    func restart(_ index: Int) throws { processes[index] = try start(index) }

    private func start(_ index: Int) throws -> Process {
        guard let program = Self.program else { throw Missing(description: "nats-server is not installed") }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        let routes = clusterPorts.map { "nats://127.0.0.1:\($0)" }.joined(separator: ",")
        process.arguments = [
            "-a", "127.0.0.1", "-p", "\(ports[index])", "-n", "n\(index)", "-cluster_name", "tocsin", "-cluster",
            "nats://127.0.0.1:\(clusterPorts[index])", "-routes", routes, "-l", "\(folder)/\(index).log",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// Ports that were free a moment ago.
    private static func freePorts(_ count: Int) throws -> [Int] {
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        return try (0..<count).map { _ in
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            sockets.append(descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
                }
            }
            guard isBound else { throw Missing(description: "no port is free") }
            return Int(UInt16(bigEndian: address.sin_port))
        }
    }
}
