import Foundation
import JSON

/// createMessage over HTTP on each database: beside rows inserted by hand, and
/// beside a commit a request.
struct StoreBenchmark {
    let options: BenchOptions
    static let body = String(repeating: "The disk of db-3 is 91 % full. ", count: 6)
    /// Rows of a commit of the floors.
    private static let floorRows = 100
    private static let nodes = 3
    /// How often floor and server are measured in turn; odd, so that one is the middle.
    private static let turns = 5

    func run() async throws {
        tell("\n## Store: SQLite")
        let floor = try SQLiteFloor(group: Self.floorRows, body: Self.body).run(seconds: options.seconds)
        tell(floor.printed())
        try await measure(nil, floor: floor)
        guard let postgres = try PostgresProcess.start() else {
            return tell("\n## Store: PostgreSQL is not installed; it is not measured.")
        }
        defer { postgres.stop() }
        tell("\n## Store: PostgreSQL")
        try await measure(postgres)
        tell("\n## Store: PostgreSQL, \(Self.nodes) nodes")
        try await measureNodes(postgres)
    }

    private func measure(_ postgres: PostgresProcess) async throws {
        let rows = PostgresFloor(url: postgres.url, rows: Self.floorRows, body: Self.body)
        let bare = try rows.run(.bare, seconds: options.seconds) { postgres.cpu }
        tell(bare.printed())
        // The first store makes the tables.
        _ = try await StoreAlone(url: postgres.url, seconds: 1).run(groupSize: 1)
        try postgres.clear()
        let messages = try rows.run(.messages, seconds: options.seconds) { postgres.cpu }
        tell(messages.printed(floor: bare))
        try await measure(postgres, floor: messages)
        try await measureInTurn(postgres, rows)
    }

    /// Floor and server after each other, some times: the machine moves either by a third within a
    /// minute, so that the ratio of two figures taken apart says little.
    private func measureInTurn(_ postgres: PostgresProcess, _ rows: PostgresFloor) async throws {
        var ratios: [Double] = []
        for _ in 0..<Self.turns {
            try postgres.clear()
            let floor = try rows.run(.messages, seconds: options.seconds) { postgres.cpu }
            try postgres.clear()
            let server = try ServerProcess(environment: Self.environment(postgres))
            defer { server.stop() }
            // A node needs some seconds to know that it is alone; one client goes first, as above.
            var measured: [LoadMeasurement] = []
            for count in [1, 64] {
                let clients = try Self.clients(count, of: [server], topics: 1)
                let load = ClientLoad(clients: clients, seconds: options.seconds)
                measured.append(try await LoadMeasurement.run("", load, parts: []))
            }
            ratios.append((measured.last?.perSecond ?? 0) / floor.perSecond)
        }
        let all = ratios.map { String(format: "%.2f", $0) }.joined(separator: ", ")
        let middle = String(format: "%.2f", ratios.sorted()[Self.turns / 2])
        tell("64 clients and the floor in turn, \(Self.turns) times: \(all) of its rate; the middle one \(middle)")
    }

    /// One node: the service alone with and without groups, then clients over HTTP.
    private func measure(_ postgres: PostgresProcess?, floor: Figures) async throws {
        let store = StoreAlone(url: postgres?.url, seconds: options.seconds)
        try postgres?.clear()
        let alone = try await store.run(groupSize: 1)
        tell(alone.printed(floor: floor))
        try postgres?.clear()
        tell(try await store.run(groupSize: 256).printed(floor: floor))
        try postgres?.clear()
        let server = try ServerProcess(environment: Self.environment(postgres))
        defer { server.stop() }
        for clients in [1, 64, 512] {
            let load = ClientLoad(clients: try Self.clients(clients, of: [server], topics: 1), seconds: options.seconds)
            let name = "createMessage over HTTP, \(clients) client\(clients == 1 ? "" : "s")"
            let measured = try await LoadMeasurement.run(name, load, parts: Self.parts([server], postgres))
            let ratio = measured.perSecond / alone.perSecond
            tell(measured.printed(floor: floor) + String(format: ", %.1f times a commit a request", ratio))
        }
    }

    /// Several nodes on one database: each with topics of its own, then all on one.
    private func measureNodes(_ postgres: PostgresProcess) async throws {
        try postgres.clear()
        var nodes: [ServerProcess] = []
        defer { for node in nodes.reversed() { node.stop() } }
        for _ in 0..<Self.nodes {
            nodes.append(try ServerProcess(environment: Self.environment(postgres), beside: nodes.first))
        }
        for (topics, words) in [(Self.nodes, "each node its topic"), (1, "one hot topic")] {
            let clients = try Self.clients(63, of: nodes, topics: topics)
            let load = ClientLoad(clients: clients, seconds: options.seconds)
            tell(
                try await LoadMeasurement.run("63 clients, \(words)", load, parts: Self.parts(nodes, postgres))
                    .printed()
            )
        }
        try await measureFeed(nodes, postgres)
    }

    /// From a publisher on one node to a subscriber on another, beside both on one node,
    /// and while others publish.
    private func measureFeed(_ nodes: [ServerProcess], _ postgres: PostgresProcess) async throws {
        guard let first = nodes.first, let last = nodes.last else { return }
        let topic = try first.makeTopic("feed")
        let same = CrossNodeFeed(publisher: first, subscriber: first, topic: topic)
        tell(try same.run(seconds: options.seconds).printed("a message to its subscriber on the same node"))
        let cross = CrossNodeFeed(publisher: first, subscriber: last, topic: topic)
        tell(try cross.run(seconds: options.seconds).printed("a message to its subscriber on another node"))
        let clients = try Self.clients(Self.nodes * 10, of: nodes, topics: Self.nodes)
        let load = ClientLoad(clients: clients, seconds: options.seconds)
        let parts = Self.parts(nodes, postgres)
        async let others = LoadMeasurement.run("\(clients.count) clients meanwhile", load, parts: parts)
        tell(try cross.run(seconds: options.seconds).printed("the same while \(clients.count) clients publish"))
        tell(try await others.printed())
    }

    private static func environment(_ postgres: PostgresProcess?) -> [String: String] {
        postgres.map { ["TOCSIN_DATABASE_URL": $0.url] } ?? [:]
    }

    private static func parts(
        _ nodes: [ServerProcess],
        _ postgres: PostgresProcess?
    ) -> [(part: String, used: @Sendable () -> Double)] {
        let pids = nodes.map(\.pid)
        var parts: [(part: String, used: @Sendable () -> Double)] = [
            ("server", { pids.reduce(0) { $0 + ((try? ProcessUsage.cpu(of: $1)) ?? 0) } })
        ]
        if let postgres { parts.append(("PostgreSQL", { postgres.cpu })) }
        return parts
    }

    /// Divides the clients among nodes and topics.
    private static func clients(
        _ count: Int,
        of nodes: [ServerProcess],
        topics: Int
    ) throws -> [(port: UInt16, request: [UInt8])] {
        // Names are unique for an owner, and each measurement makes topics of its own.
        let ids = try (0..<topics).map { _ in try nodes[0].makeTopic("bench-\(UInt64.random(in: 0...UInt64.max))") }
        return (0..<count).map { client in
            let node = nodes[client % nodes.count]
            return (node.port, node.message("Disk full", to: ids[client % topics]))
        }
    }
}
