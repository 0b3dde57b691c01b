import Foundation
import JSON
import TocsinClient

/// A folder of its own with a simulator and a server, run as processes of the built binary.
final class Installation {
    let folder: String
    private(set) var simulator: SimulatorProcess?
    private(set) var server: ServerProcess?
    private var options: [String] = []

    private init() throws {
        folder = NSTemporaryDirectory() + "tocsin-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// Runs the body with a fresh simulator and server, which are ended afterwards whatever happens.
    ///
    /// With TLS the server shows the simulator's certificate, whose authority is in `authorityFile`.
    static func run(isEncrypted: Bool = false, _ body: (Installation) async throws -> Void) async throws {
        let installation = try Installation()
        do {
            installation.simulator = try await SimulatorProcess(folder: installation.folder)
            if isEncrypted {
                let keys = installation.folder + "/simulator"
                installation.options = [
                    "--tls-certificate", keys + "/server.pem", "--tls-key", keys + "/server-key.pem",
                ]
            }
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

    /// The address of the running server.
    var address: String { server?.address ?? "" }

    private func startServer(port: Int = 0) async throws {
        let environment = simulator?.environment ?? [:]
        server = try await ServerProcess(folder: folder, port: port, environment: environment, options: options)
    }

    /// Kills the server as a power cut would and starts it again on its data and port.
    func killAndRestartServer() async throws {
        let port = server?.port ?? 0
        server?.process.signal(SIGKILL)
        try await server?.process.untilExit()
        try await startServer(port: port)
    }

    /// Adds a local user and makes a token.
    func addUser(_ name: String) async throws -> String {
        _ = try await succeed(["user", "add", name, "--data-dir", folder + "/data"])
        return try await makeToken(user: name)
    }

    /// Makes a token of a local user.
    func makeToken(user: String, _ options: [String] = []) async throws -> String {
        let arguments = ["token", "create", "--user", user, "--data-dir", folder + "/data"] + options
        return try await succeed(arguments).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Runs a command of the binary against the running server.
    func tocsin(_ arguments: [String], token: String) async throws -> (status: Int32, output: String, errors: String) {
        var environment = TestBinary.environment
        environment["TOCSIN_URL"] = address
        environment["TOCSIN_TOKEN"] = token
        return try await ChildProcess.run(
            try TestBinary.path(),
            arguments,
            environment: environment,
            folder: folder
        )
    }

    /// Sends a GraphQL request with curl and gives the whole response.
    func curl(_ query: String, _ variables: JSONObject = [:], token: String) async throws -> JSONValue {
        let body: JSONValue = ["query": .string(query), "variables": .object(variables)]
        let result = try await ChildProcess.run(
            "/usr/bin/curl",
            [
                "--silent", "--show-error", "--max-time", "15", "--header", "Authorization: Bearer \(token)",
                "--header", "Content-Type: application/json", "--header", "Accept: application/graphql-response+json",
                "--data-binary", body.serializedString(), "\(address)/graphql",
            ],
            environment: TestBinary.environment,
            folder: folder
        )
        guard result.status == 0 else { throw HarnessFailure("curl: \(result.errors)") }
        return try JSONParser.parse(result.output)
    }

    /// A client that comes back quickly after a restart.
    func makeClient(token: String) throws -> TocsinClient {
        var settings = ClientSettings()
        settings.certificateAuthorityFile = options.isEmpty ? nil : authorityFile
        settings.feedPauses = Backoff(first: .milliseconds(20), longest: .milliseconds(200))
        return try TocsinClient(url: address, token: token, settings: settings)
    }

    private func succeed(_ arguments: [String]) async throws -> String {
        let result = try await ChildProcess.run(
            try TestBinary.path(),
            arguments,
            environment: TestBinary.environment,
            folder: folder
        )
        guard result.status == 0 else {
            throw HarnessFailure("tocsin \(arguments.joined(separator: " ")): \(result.status), \(result.errors)")
        }
        return result.output
    }

    private func end(keepsFolder: Bool) async {
        for process in [server?.process, simulator?.process] {
            process?.signal(SIGKILL)
            _ = try? await process?.untilExit()
        }
        if !keepsFolder { try? FileManager.default.removeItem(atPath: folder) }
    }
}

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

    /// What every process gets: no setting of whoever runs the tests reaches it.
    static var environment: [String: String] {
        ProcessInfo.processInfo.environment.filter {
            ["PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH"].contains($0.key)
        }
    }
}
