import CPostgres
import Foundation
import Glibc

/// A PostgreSQL server of this run: in a temporary folder, on a free port of 127.0.0.1, not as
/// root, with the settings that it comes with.
final class PostgresProcess: Sendable {
    let url: String
    private let folder: URL
    private let server: Process
    private static let startSeconds = 60.0

    /// Starts it; nil where PostgreSQL is not installed.
    static func start() throws -> PostgresProcess? {
        guard let programs = programsFolder() else { return nil }
        return try PostgresProcess(programs)
    }

    private init(_ programs: URL) throws {
        folder = try .makeTemporaryFolder("postgres")
        if geteuid() == 0, let user = getpwnam("nobody") {
            chown(folder.path(), user.pointee.pw_uid, user.pointee.pw_gid)
        }
        let data = folder.appending(path: "data").path()
        let preparation = Self.process(
            programs.appending(path: "initdb"),
            ["-D", data, "-A", "trust", "-U", "bench", "--no-locale", "-E", "UTF8"]
        )
        _ = try preparation.finish()
        guard preparation.terminationStatus == 0 else { throw BenchFailure("initdb failed") }
        let port = try Self.freePort()
        url = "postgres://bench@127.0.0.1:\(port)/postgres"
        let settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "log_min_messages=fatal"]
        server = Self.process(
            programs.appending(path: "postgres"),
            ["-D", data, "-p", "\(port)"] + settings.flatMap { ["-c", $0] }
        )
        try server.start()
        try awaitAnswer()
    }

    private func awaitAnswer() throws {
        let deadline = Date(timeIntervalSinceNow: Self.startSeconds)
        while PQping(url) != PQPING_OK {
            guard Date() < deadline, server.isRunning else {
                stop()
                throw BenchFailure("PostgreSQL did not start")
            }
            usleep(50_000)
        }
    }

    /// Removes all messages and writes what is not in the files yet, so that each measurement
    /// begins as the floor's does.
    func clear() throws {
        guard let connection = PQconnectdb(url), PQstatus(connection) == CONNECTION_OK else {
            throw BenchFailure("PostgreSQL cannot be reached")
        }
        defer { PQfinish(connection) }
        for sql in ["SET client_min_messages = warning", "TRUNCATE messages CASCADE", "CHECKPOINT"] {
            let result = PQexec(connection, sql)
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw BenchFailure("\(sql) failed") }
        }
    }

    /// Ends it as fast as it can be ended (SIGINT).
    func stop() {
        server.end(by: SIGINT)
        try? FileManager.default.removeItem(at: folder)
    }

    /// CPU seconds of all its processes so far, those that have ended included (proc(5), `stat`).
    var cpu: Double {
        let pid = server.processIdentifier
        var ticks = 0.0
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let number = Int32(name),
                let text = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8)
            else { continue }
            let fields = (text.split(separator: ")").last ?? "").split(separator: " ").map { Double($0) ?? 0 }
            guard fields.count > 14 else { continue }
            if number == pid { ticks += fields[11...14].reduce(0, +) }
            if Int32(fields[1]) == pid { ticks += fields[11] + fields[12] }
        }
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The programs in the search path, or where Debian keeps them.
    private static func programsFolder() -> URL? {
        let paths = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let debian = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []).sorted()
        return (paths + versions.reversed().map { "\(debian)/\($0)/bin" })
            .first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }.map { URL(filePath: $0) }
    }

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw BenchFailure("no free port") }
        return UInt16(bigEndian: address.sin_port)
    }

    /// PostgreSQL refuses to run as root.
    private static func process(_ program: URL, _ arguments: [String]) -> Process {
        let isRoot = geteuid() == 0
        let user = isRoot ? ["--reuid=nobody", "--regid=nogroup", "--clear-groups", program.path()] : []
        let process = Process(isRoot ? URL(filePath: "/usr/bin/setpriv") : program, user + arguments)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.currentDirectoryURL = URL(filePath: "/")
        return process
    }
}
