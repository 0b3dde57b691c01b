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

    /// A server of its own, or one more node beside `first`: with its key, its
    /// user's token and its database.
    init(environment: [String: String] = [:], beside first: ServerProcess? = nil) throws {
        isFirst = first == nil
        directory = try first?.directory ?? .makeTemporaryFolder("bench")
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
        process = Process(
            Self.binary,
            ["serve", "--port", "0", "--log-level", "error", "--ready-file", ready.path()] + data,
            environment: environment
        )
        try process.start()
        let address = try process.awaitReady(ready, within: Self.startSeconds)
        let number = address.split(separator: ":").last?.prefix(while: \.isNumber)
        guard let port = number.flatMap({ UInt16($0) }) else { throw BenchFailure("\(address) is no address") }
        self.port = port
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
        return try JSONParser.parse(try connection.exchange(request(query, variables)))["data"] ?? .null
    }

    /// The id of a new topic.
    func makeTopic(_ name: String) throws -> JSONValue {
        try run("mutation { createTopic(input: {name: \"\(name)\"}) { id } }")["createTopic"]?["id"] ?? .null
    }

    /// The bytes of a request that creates a message.
    func message(_ title: String, to topic: JSONValue) -> [UInt8] {
        let input: JSONValue = [
            "type": 1, "title": .string(title), "body": .string(StoreBenchmark.body), "topicId": topic,
        ]
        return request("mutation($i: CreateMessageInput!) { createMessage(input: $i) { id number } }", ["i": input])
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
        let process = Process(binary, arguments, environment: environment)
        let pipe = Pipe()
        process.standardOutput = pipe
        let text = String(decoding: try process.finish(reading: pipe), as: UTF8.self)
        guard process.terminationStatus == 0 else { throw BenchFailure("tocsin \(arguments[0]) failed") }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
