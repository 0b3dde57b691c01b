import Foundation
import JSON
import TestDatabases
import TocsinClient
import TocsinSQLite
import TocsinStore

/// A folder of its own with a simulator and a server, run as processes of the built binary.
final class Installation {
    let folder: String
    private(set) var simulator: SimulatorProcess?
    private(set) var server: ServerProcess?
    /// Flags of the server beside the usual ones, from the next start on.
    var options: [String] = []
    /// The server's environment, from the next start on; at first it pushes to the simulator.
    var environment: [String: String] = [:]
    private var isEncrypted = false
    /// A database of a PostgreSQL server, when the tests run on one; else the server
    /// keeps a file in the folder.
    private let ownDatabase: TemporaryDatabase?

    private init() throws {
        ownDatabase = try AnyDatabase.makePostgres()
        folder = NSTemporaryDirectory() + "tocsin-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// Runs the body with a fresh simulator and server, which are ended
    /// afterwards whatever happens.
    ///
    /// `prepare` sets the options and environment the server starts with. With TLS the server shows
    /// the simulator's certificate, whose authority is in `authorityFile`. `options` are flags of
    /// the simulator beside the usual ones.
    static func run(
        isEncrypted: Bool = false,
        simulator options: [String] = [],
        prepare: (Installation) async throws -> Void = { _ in },
        _ body: (Installation) async throws -> Void
    ) async throws {
        let installation = try Installation()
        do {
            let simulator = try await SimulatorProcess(folder: installation.folder, options: options)
            installation.simulator = simulator
            installation.environment = simulator.environment
            if isEncrypted {
                let keys = installation.folder + "/simulator"
                installation.isEncrypted = true
                installation.options = [
                    "--tls-certificate", keys + "/server.pem", "--tls-key", keys + "/server-key.pem",
                ]
            }
            try await prepare(installation)
            try await installation.startServer()
            try await body(installation)
        } catch {
            await installation.end(keepsFolder: true)
            throw HarnessFailure("\(error) (logs are in \(installation.folder))")
        }
        await installation.end(keepsFolder: false)
    }

    /// The authority of the simulator's certificate.
    var authorityFile: String { folder + "/simulator/ca.pem" }

    /// Where the server keeps its data.
    var database: any SQLDatabase { ownDatabase ?? SQLiteDatabase(path: folder + "/data/tocsin.db") as any SQLDatabase }

    private var databaseEnvironment: [String: String] { ownDatabase.map { ["TOCSIN_DATABASE_URL": $0.url] } ?? [:] }

    /// The address of the running server.
    var address: String { server?.address ?? "" }

    /// What the running server has logged so far.
    var log: String { server?.process.errors ?? "" }

    /// The log's lines that are JSON.
    var logLines: [JSONValue] {
        log.split(separator: "\n").compactMap { line in
            // What is not JSON is not the log's.
            try? JSONParser.parse(String(line))
        }
    }

    private func startServer(port: Int = 0) async throws {
        server = try await ServerProcess(
            folder: folder,
            port: port,
            environment: databaseEnvironment.merging(environment) { $1 },
            options: options
        )
    }

    /// Kills the server as a power cut would and starts it again on its data and port.
    func killAndRestartServer(whileDown: () async throws -> Void = {}) async throws {
        let port = server?.port ?? 0
        server?.process.signal(SIGKILL)
        try await server?.process.untilExit()
        try await whileDown()
        try await startServer(port: port)
    }

    /// Asks the server to stop and gives its exit status.
    func stopServer() async throws -> Int32 {
        guard let process = server?.process else { throw HarnessFailure("There is no server to stop.") }
        process.signal(SIGTERM)
        return try await process.untilExit()
    }

    /// Stops the server as an operator would and starts it again on its data and port.
    func restartServer() async throws {
        let status = try await stopServer()
        guard status == 0 else { throw HarnessFailure("The server ended with \(status): \(log)") }
        try await startServer(port: server?.port ?? 0)
    }

    /// Starts the server on the data and port it had before it ended.
    func startServerAgain() async throws { try await startServer(port: server?.port ?? 0) }

    /// Adds a local user and makes a token.
    func addUser(_ name: String) async throws -> String {
        try await LocalUsers.add(
            name,
            dataDirectory: folder + "/data",
            environment: TestBinary.environment.merging(databaseEnvironment) { $1 }
        )
    }

    /// Makes a token of a local user.
    func makeToken(user: String, _ options: [String] = []) async throws -> String {
        try await administer(["token", "create", "--user", user] + options)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Runs a command of the binary against the running server.
    func tocsin(_ arguments: [String], token: String) async throws -> (status: Int32, output: String, errors: String) {
        let server = ["TOCSIN_URL": address, "TOCSIN_TOKEN": token]
        return try await TestBinary.run(arguments, with: server, folder: folder)
    }

    /// Sends a GraphQL request with curl and gives the whole response.
    func curl(_ query: String, _ variables: JSONObject = [:], token: String) async throws -> JSONValue {
        let body: JSONValue = ["query": .string(query), "variables": .object(variables)]
        let result = try await ChildProcess.run(
            "/usr/bin/curl",
            [
                "--silent", "--show-error", "--max-time", Patience.ofCurl, "--header", "Authorization: Bearer \(token)",
                "--header", "Content-Type: application/json", "--header", "Accept: application/graphql-response+json",
                "--data-binary", body.serializedString(), "\(address)/graphql",
            ],
            environment: TestBinary.environment,
            folder: folder
        )
        guard result.status == 0 else { throw HarnessFailure("curl: \(result.errors)") }
        return try JSONParser.parse(result.output)
    }

    /// Sends a request to a path with curl, shaped by curl's own arguments, and gives the answer.
    func http(_ path: String, token: String? = nil, _ arguments: [String] = []) async throws -> HTTPAnswer {
        let credentials = token.map { ["--header", "Authorization: Bearer \($0)"] } ?? []
        let result = try await ChildProcess.run(
            "/usr/bin/curl",
            ["--silent", "--show-error", "--max-time", Patience.ofCurl, "--include"] + credentials + arguments
                + [address + path],
            environment: TestBinary.environment,
            folder: folder
        )
        guard result.status == 0 else { throw HarnessFailure("curl: \(result.status), \(result.errors)") }
        return try HTTPAnswer(result.output)
    }

    /// Runs a command of the binary on the running server's data, and fails unless it succeeds.
    @discardableResult
    func administer(_ arguments: [String]) async throws -> String {
        let arguments = arguments + ["--data-dir", folder + "/data"]
        return try await TestBinary.output(of: arguments, with: databaseEnvironment, folder: folder)
    }

    /// Runs a command of the binary on the running server's data, whatever becomes of it.
    func attempt(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        try await TestBinary.run(
            arguments + ["--data-dir", folder + "/data"],
            with: databaseEnvironment,
            folder: folder
        )
    }

    /// A client that comes back quickly after a restart.
    func makeClient(token: String) throws -> TocsinClient {
        var settings = ClientSettings()
        settings.certificateAuthorityFile = isEncrypted ? authorityFile : nil
        settings.isPatientButQuick()
        return try TocsinClient(url: address, token: token, settings: settings)
    }

    private func end(keepsFolder: Bool) async {
        for process in [server?.process, simulator?.process] {
            process?.signal(SIGKILL)
            _ = try? await process?.untilExit()
        }
        if !keepsFolder { try? FileManager.default.removeItem(atPath: folder) }
    }
}
