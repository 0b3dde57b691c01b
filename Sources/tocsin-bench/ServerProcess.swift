import Foundation
import JSON

/// A built `tocsin` beside this program, run on a free port with a data directory of its own.
final class ServerProcess {
    let directory: URL
    let port: UInt16
    let token: String
    private let process: Process
    private let isFirst: Bool
    private static let startSeconds = 60.0

    /// A server of its own, or one more node beside `first`: with its key, its user's token and its database.
    init(environment: [String: String] = [:], beside first: ServerProcess? = nil) throws {
        isFirst = first == nil
        let temporary = FileManager.default.temporaryDirectory
        directory = first?.directory ?? temporary.appending(path: "tocsin-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let data = ["--data-dir", directory.path()]
        if let first {
            token = first.token
        } else {
            // A database of this run's may have had a server before.
            let user = "bench-\(UInt32.random(in: 0...UInt32.max))"
            _ = try Self.output(["user", "add", user] + data, environment)
            token = try Self.output(["token", "create", "--user", user] + data, environment)
        }
        let ready = directory.appending(path: "ready-\(UUID().uuidString)")
        process = Process()
        process.executableURL = Self.binary
        process.arguments = ["serve", "--port", "0", "--log-level", "error", "--ready-file", ready.path()] + data
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        try process.start()
        port = try Self.awaitPort(ready, process)
    }

    var pid: Int32 { process.processIdentifier }

    func stop() {
        process.end()
        if isFirst { try? FileManager.default.removeItem(at: directory) }
    }

    /// Runs a GraphQL operation and answers its data.
    func run(_ query: String, _ variables: JSONObject = [:]) throws -> JSONValue {
        let connection = try LoadConnection(port: port)
        defer { connection.close() }
        let response = try connection.exchange(request(query, variables))
        let value = try JSONParser.parse(response)
        guard let data = value["data"], value["errors"] == nil else {
            throw BenchFailure("the server refused: \(String(decoding: response, as: UTF8.self))")
        }
        return data
    }

    /// The bytes of one HTTP request for an operation.
    func request(_ query: String, _ variables: JSONObject = [:]) -> [UInt8] {
        let body = JSONValue.object(["query": .string(query), "variables": .object(variables)]).serialized()
        let head =
            "POST /graphql HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n"
        return Array(head.utf8) + body
    }

    /// The executable that stands beside this one.
    static var binary: URL {
        URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "tocsin")
    }

    /// Runs a command of the binary to its end and answers what it printed.
    private static func output(_ arguments: [String], _ environment: [String: String]) throws -> String {
        let process = Process()
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.executableURL = binary
        process.arguments = arguments
        process.standardOutput = pipe
        let text = String(decoding: try process.finish(reading: pipe), as: UTF8.self)
        guard process.terminationStatus == 0 else { throw BenchFailure("tocsin \(arguments[0]) failed") }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func awaitPort(_ ready: URL, _ process: Process) throws -> UInt16 {
        let deadline = Date(timeIntervalSinceNow: startSeconds)
        while Date() < deadline, process.isRunning {
            if let text = try? String(contentsOf: ready, encoding: .utf8), let port = text.split(separator: ":").last,
                let number = UInt16(port.trimmingCharacters(in: CharacterSet(charactersIn: "/\n")))
            {
                return number
            }
            usleep(20_000)
        }
        process.end()
        throw BenchFailure("the server did not become ready")
    }
}
