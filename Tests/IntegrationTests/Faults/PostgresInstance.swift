import Foundation
import TestDatabases
import TocsinCore
import TocsinPostgres
import TocsinStore

/// A PostgreSQL server of a test's own, which it may stop, start, kill and copy.
final class PostgresInstance {
    /// How a server is stopped.
    enum Ending: CaseIterable {
        /// It ends its sessions and writes everything down.
        case fast
        /// It drops everything, and recovers at its next start.
        case immediate
    }

    let port: UInt16
    private let folder: String
    private var process: ChildProcess?

    private init() throws {
        guard let port = PostgresProxy.freePort() else { throw HarnessFailure("There is no free port.") }
        self.port = port
        folder = NSTemporaryDirectory() + "tocsin-postgres-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o711]
        )
        try FileManager.default.createDirectory(
            atPath: data,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        if let user = Self.user { chown(data, user.id, user.group) }
    }

    private var data: String { folder + "/data" }
    var url: String { "postgres://tocsin@127.0.0.1:\(port)/postgres" }
    var server: PostgresServer { PostgresServer(url: url) }

    /// Runs the body with a new server, which is ended afterwards whatever happens.
    static func run(_ body: (PostgresInstance) async throws -> Void) async throws {
        let instance = try PostgresInstance()
        try await finishing(instance) {
            try await instance.use(
                "initdb",
                ["-D", instance.data, "-U", "tocsin", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
            )
            let settings = """

                listen_addresses = '127.0.0.1'
                unix_socket_directories = ''
                max_connections = 200
                fsync = off
                autovacuum = off
                deadlock_timeout = 200ms
                log_min_messages = fatal

                """
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: instance.data + "/postgresql.conf"))
            try file.seekToEnd()
            try file.write(contentsOf: Data(settings.utf8))
            try file.close()
            try await instance.start()
            try await body(instance)
        }
    }

    /// Runs the body with a standby that follows this server through a proxy, and
    /// that its commits wait for.
    func withStandby(_ proxy: PostgresProxy, _ body: (PostgresInstance) async throws -> Void) async throws {
        let standby = try PostgresInstance()
        try await Self.finishing(standby) {
            try await standby.use(
                "pg_basebackup",
                [
                    "-h", "127.0.0.1", "-p", "\(try PostgresProxy.port(in: proxy.url))", "-U", "tocsin", "-D",
                    standby.data, "-R", "-X", "stream", "-c",
                    "fast", "--no-sync",
                ]
            )
            try await standby.start()
            try server.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
            try server.run("SELECT pg_reload_conf()")
            let url = url
            try await eventually("the standby is synchronous") {
                let connection = try PostgresDatabase(url: url).connect(.reader)
                defer { connection.close() }
                var found = false
                _ = try connection.run("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'", []) { _ in
                    found = true
                }
                return found
            }
            try await body(standby)
        }
    }

    private static func finishing(_ instance: PostgresInstance, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            await instance.remove()
            throw error
        }
        await instance.remove()
    }

    /// Starts the server and waits until it can be read.
    func start() async throws {
        let (program, arguments) = try Self.command("postgres", ["-D", data, "-p", "\(port)"])
        process = try ChildProcess(program, arguments, environment: TestBinary.environment, folder: folder)
        let url = url
        try await eventually("PostgreSQL answers at port \(port)") { [process] in
            if let status = process?.status {
                throw HarnessFailure("PostgreSQL ended: \(status) \(process?.errors ?? "")")
            }
            guard let connection = try? PostgresDatabase(url: url).connect(.reader) else { return false }
            connection.close()
            return true
        }
    }

    func stop(_ ending: Ending) async throws {
        process?.signal(ending == .fast ? SIGINT : SIGQUIT)
        try await process?.untilExit()
    }

    /// Stops all processes of the server where they are; what is sent to them is taken by the
    /// system, and not answered.
    func freeze(_ isFrozen: Bool) {
        guard let id = process?.processID else { return }
        for child in Self.children(of: id) + [id] { kill(child, isFrozen ? SIGSTOP : SIGCONT) }
    }

    /// Makes a standby the one that writes.
    func promote() async throws { try await use("pg_ctl", ["promote", "-w", "-D", data]) }

    private func remove() async {
        freeze(false)
        process?.signal(SIGQUIT)
        _ = try? await process?.untilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }
}

extension PostgresInstance {
    private func use(_ program: String, _ arguments: [String]) async throws {
        let (executable, all) = try Self.command(program, arguments)
        let result = try await ChildProcess.run(executable, all, environment: TestBinary.environment, folder: folder)
        guard result.status == 0 else { throw HarnessFailure("\(program): \(result.status), \(result.errors)") }
    }

    /// Who the server runs as, which must not be root.
    private static let user: (id: uid_t, group: gid_t)? = {
        guard getuid() == 0, let entry = getpwnam("postgres") ?? getpwnam("nobody") else { return nil }
        return (entry.pointee.pw_uid, entry.pointee.pw_gid)
    }()

    private static func command(_ program: String, _ arguments: [String]) throws -> (String, [String]) {
        let path = try programs() + "/" + program
        // From a folder that everybody can read; the process keeps its id.
        let shell = ["-c", "cd / && exec \"$@\"", "sh"]
        guard let user else { return ("/bin/sh", shell + [path] + arguments) }
        let change = ["setpriv", "--reuid", "\(user.id)", "--regid", "\(user.group)", "--clear-groups"]
        return ("/bin/sh", shell + change + [path] + arguments)
    }

    private static func programs() throws -> String {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let folders = versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "/usr/lib/postgresql/\($0)/bin" }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let all = folders + path.split(separator: ":").map(String.init)
        guard let found = all.first(where: { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }) else {
            throw HarnessFailure("There is no initdb: PostgreSQL's server is not installed.")
        }
        return found
    }

    private static func children(of parent: Int32) -> [Int32] {
        let list = try? String(contentsOfFile: "/proc/\(parent)/task/\(parent)/children", encoding: .utf8)
        return (list ?? "").split(separator: " ").compactMap { Int32($0) }
    }
}
