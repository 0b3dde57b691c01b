import GraphQLTransport
import Testing
import TocsinHTTP

@Suite("The turns of replays on one socket", .timeLimit(.minutes(5)))
struct ReplayTurnTests {
    /// Pages of a replay of the echo's, and how many of them it hands over in a turn.
    private static let (pages, pagesOfTurn) = (40, 4)

    /// A server whose bound is less than one page; the echo replays before it
    /// answers that it is live.
    private func withServer(_ body: (TestServer) async throws -> Void) async throws {
        let change = { (settings: inout HTTPServerSettings) in
            settings.answerMilliseconds = 120_000
            settings.session.initialisationMilliseconds = 60_000
            settings.maximumQueueBytes = 65_536
            settings.maximumQueueEvents = 2
        }
        try await TestServer.with(settings: change, body)
    }

    /// Reads until so many replays are complete; answers whose each page was.
    private func read(_ replays: Int, from client: RawClient) async throws -> [String] {
        var (ids, completed) = ([String](), 0)
        while completed < replays {
            let text = try await client.frame().text
            let id = String(text.dropFirst(7).prefix { $0 != "\"" })
            if text.hasPrefix("{\"id\":\"\(id)\",\"type\":\"next\"") {
                ids.append(id)
            } else {
                try #require(text == "{\"id\":\"\(id)\",\"type\":\"complete\"}", "\(text.prefix(200))")
                completed += 1
            }
        }
        return ids
    }

    @Test("one at a time hands over, and all that they bring never ends a reader that reads")
    func together() async throws {
        try await withServer { server in
            let client = try await server.connect()
            try await client.openSession()
            for id in 1...10 { client.subscribe("\(id)", "subscription replay") }
            let ids = try await read(10, from: client)
            #expect(ids.count == 10 * Self.pages)
            for id in 1...10 { #expect(ids.count { $0 == "\(id)" } == Self.pages) }
            for turn in stride(from: 0, to: ids.count, by: Self.pagesOfTurn) {
                #expect(Set(ids[turn..<(turn + Self.pagesOfTurn)]).count == 1, "turn \(turn / Self.pagesOfTurn)")
            }
        }
    }

    @Test("who gives up in its turn or while it waits for it keeps no other from theirs")
    func cancelled() async throws {
        try await withServer { server in
            let client = try await server.connect()
            try await client.openSession()
            try await client.stopReading()
            for id in 1...5 { client.subscribe("\(id)", "subscription replay") }
            for id in [1, 3, 4] { client.sendText("{\"id\":\"\(id)\",\"type\":\"complete\"}") }
            for _ in 0..<3 { #expect(await server.service.wait(for: .unsubscribed)) }
            try await client.startReading()
            let ids = try await read(2, from: client)
            for id in ["2", "5"] { #expect(ids.count { $0 == id } == Self.pages) }
        }
    }

    @Test("who waits until all it has handed over is taken goes on when it is")
    func taken() async throws {
        try await withServer { server in
            let client = try await server.connect()
            try await client.openSession()
            for id in 1...5 { client.subscribe("\(id)", "subscription pages") }
            let ids = try await read(5, from: client)
            for id in 1...5 { #expect(ids.count { $0 == "\(id)" } == 10) }
        }
    }

    @Test(
        "when the socket goes, neither who has a turn nor who waits for one hangs",
        arguments: ["subscription replay", "subscription pages"]
    )
    func gone(_ document: String) async throws {
        try await withServer { server in
            let client = try await server.connect()
            try await client.openSession()
            try await client.stopReading()
            for id in 1...5 { client.subscribe("\(id)", document) }
            client.close()
            for _ in 0..<5 { #expect(await server.service.wait(for: .unsubscribed)) }
        }
    }

    @Test("what comes live meanwhile is bounded as ever: it ends who does not read")
    func live() async throws {
        try await withServer { server in
            let client = try await server.connect()
            try await client.openSession()
            client.subscribe("live", "subscription live")
            #expect(await server.service.wait(for: .subscribed))
            try await client.stopReading()
            client.subscribe("1", "subscription replay")
            for _ in 0..<2_000 { server.service.publish(EchoService.page) }
            try await client.startReading()
            #expect(try await client.closeFrame().closeCode == 1013)
        }
    }
}
