import Foundation
import JSON

/// createMessage over HTTP on each database: beside rows of the same size inserted by hand, and beside a commit a request.
struct StoreBenchmark {
    let options: BenchOptions
    static let mutation = "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id number } }"
    static let body = String(repeating: "The disk of db-3 is 91 % full. ", count: 6)
    /// Rows of a commit of the floors.
    static let floorGroup = 100

    func run() async throws {
        print("\n## Store: SQLite")
        let floor = try SQLiteFloor(group: Self.floorGroup, body: Self.body).run(seconds: options.seconds)
        print(floor.printed())
        try await measure(.sqlite, floor: floor)
    }

    private func measure(_ database: StoreDatabase, floor: Figures) async throws {
        let alone = try await StoreAlone(database: database, seconds: options.seconds).run(groupSize: 1)
        print(alone.printed(floor: floor))
        let grouped = try await StoreAlone(database: database, seconds: options.seconds).run(groupSize: 256)
        print(grouped.printed(floor: floor))
        for clients in [1, 64, 512] {
            let server = try ServerProcess()
            defer { server.stop() }
            let measured = try await LoadMeasurement.run(
                "createMessage over HTTP, \(clients) clients",
                ClientLoad(clients: try Self.clients(clients, of: [server], topics: 1), seconds: options.seconds),
                parts: [("server", { (try? ProcessUsage.cpu(of: server.pid)) ?? 0 })]
            )
            var line = measured.printed(floor: floor)
            line += String(format: ", %.1f times a commit a request", measured.perSecond / alone.perSecond)
            print(line)
        }
    }

    /// So many clients, shared out to nodes and topics.
    static func clients(
        _ count: Int,
        of nodes: [ServerProcess],
        topics: Int
    ) throws -> [(port: UInt16, request: [UInt8])] {
        let ids = try (0..<topics).map { number in
            try nodes[0].run("mutation { createTopic(input: {name: \"bench-\(number)\"}) { id } }")["createTopic"]?[
                "id"
            ]
                ?? .null
        }
        return (0..<count).map { client in
            let node = nodes[client % nodes.count]
            let input: JSONValue = [
                "type": 1, "title": "Disk full", "body": .string(body), "topicId": ids[client % topics],
            ]
            return (node.port, node.request(mutation, ["i": input]))
        }
    }
}
