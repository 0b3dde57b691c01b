import Foundation
import JSON
import TestDatabases
import TocsinClient
import TocsinStore

/// Servers of the built binary on one PostgreSQL database, and a simulator that they push to.
final class Cluster {
    let database: TemporaryDatabase
    let simulator: SimulatorProcess
    private(set) var nodes: [ServerProcess?] = []
    private let folder: String
    private let environment: [String: String]

    private init(_ server: PostgresServer, _ environment: [String: String], simulator options: [String]) async throws {
        folder = NSTemporaryDirectory() + "tocsin-nodes-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        database = try server.makeDatabase()
        simulator = try await SimulatorProcess(folder: folder, options: options)
        let own = [
            "TOCSIN_DATABASE_URL": database.nodeURL,
            "TOCSIN_SERVER_KEY": Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString(),
        ]
        self.environment = simulator.environment.merging(own) { $1 }.merging(environment) { $1 }
    }

    /// Runs the body with so many fresh nodes, which are ended afterwards whatever happens.
    static func run(
        _ count: Int,
        on server: PostgresServer? = PostgresServer.named,
        environment: [String: String] = [:],
        simulator options: [String] = [],
        _ body: (Cluster) async throws -> Void
    ) async throws {
        guard let server else { throw HarnessFailure("No PostgreSQL server is named.") }
        let cluster = try await Cluster(server, environment, simulator: options)
        do {
            for number in 0..<count {
                cluster.nodes.append(nil)
                try await cluster.start(number)
            }
            try await body(cluster)
        } catch {
            await cluster.end(keepsFolder: true)
            throw HarnessFailure("\(error) (logs are in \(cluster.folder))")
        }
        await cluster.end(keepsFolder: false)
    }

    /// Starts a node, at the port it had before.
    func start(_ number: Int, _ changes: [String: String] = [:]) async throws {
        nodes[number] = try await ServerProcess(
            folder: folder + "/",
            port: nodes[number]?.port ?? 0,
            environment: environment.merging(["TOCSIN_NODE": "node\(number)"]) { $1 }.merging(changes) { $1 },
            options: ["--data-dir", "\(folder)/data\(number)"]
        )
    }

    /// Starts one more node.
    func startAnother(_ changes: [String: String] = [:]) async throws {
        nodes.append(nil)
        try await start(nodes.count - 1, changes)
    }

    /// Ends a node as a power cut would.
    func kill(_ number: Int) async throws {
        nodes[number]?.process.signal(SIGKILL)
        try await nodes[number]?.process.untilExit()
    }

    /// Asks a node to stop and gives its exit status.
    func stop(_ number: Int) async throws -> Int32? {
        nodes[number]?.process.signal(SIGTERM)
        return try await nodes[number]?.process.untilExit()
    }

    func isRunning(_ number: Int) -> Bool { nodes[number]?.process.status == nil }

    /// What a node has logged so far.
    func log(_ number: Int) -> String { nodes[number]?.process.errors ?? "" }

    func port(_ number: Int) -> Int { nodes[number]?.port ?? 0 }

    /// A client of one node that comes back quickly.
    func client(_ number: Int, _ token: String) throws -> TocsinClient {
        var settings = ClientSettings()
        settings.isPatientButQuick()
        return try TocsinClient(url: nodes[number]?.address ?? "", token: token, settings: settings)
    }

    /// A client of one node that sends each request once.
    func impatientClient(_ number: Int, _ token: String) throws -> TocsinClient {
        var settings = ClientSettings()
        settings.isPatientButQuick()
        settings.maximumAttempts = 1
        return try TocsinClient(url: nodes[number]?.address ?? "", token: token, settings: settings)
    }

    /// Adds a local user and makes a token.
    func addUser(_ name: String) async throws -> String {
        try await LocalUsers.add(
            name,
            dataDirectory: folder + "/data-tool",
            environment: TestBinary.environment.merging(environment) { $1 }
        )
    }

    /// Runs a command of the binary on the database, beside the nodes.
    @discardableResult
    func administer(_ arguments: [String]) async throws -> String {
        let arguments = arguments + ["--data-dir", folder + "/data-tool"]
        return try await TestBinary.output(of: arguments, with: environment, folder: folder)
    }

    /// What a node says of itself in `/readyz`.
    func report(_ number: Int) async throws -> JSONValue {
        let result = try await ChildProcess.run(
            "/usr/bin/curl",
            ["--silent", "--show-error", "--max-time", Patience.ofCurl, (nodes[number]?.address ?? "") + "/readyz"],
            environment: TestBinary.environment,
            folder: folder
        )
        guard result.status == 0 else { throw HarnessFailure("curl: \(result.errors)") }
        return try JSONParser.parse(result.output)
    }

    /// Ends backends of PostgreSQL whose last statement is like this.
    func cut(statementsLike pattern: String) throws {
        let connection = try database.connect(.tool)
        defer { connection.close() }
        try connection.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE $1
            """,
            [.text(pattern)]
        )
    }

    private func end(keepsFolder: Bool) async {
        for process in nodes.map({ $0?.process }) + [simulator.process] {
            process?.signal(SIGKILL)
            _ = try? await process?.untilExit()
        }
        if !keepsFolder { try? FileManager.default.removeItem(atPath: folder) }
    }
}
