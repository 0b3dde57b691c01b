import Foundation
import GraphQLTransport
import NIOCore
import Synchronization
import Testing
import TocsinHTTP

@Suite("Responses for many sockets", .timeLimit(.minutes(5)))
struct FanOutTests {
    /// A client of one of the carriers, reduced to the bodies it gets.
    private struct Follower {
        let client: RawClient
        let next: (RawClient) async throws -> String
    }

    private static let header = Data(#"{"host":"h","Authorization":"good"}"#.utf8).base64EncodedString()

    private func common(_ server: TestServer, id: String) async throws -> Follower {
        let client = try await server.connect()
        try await client.openSession()
        client.subscribe(id, "subscription live")
        return Follower(client: client) { client in
            try Self.payload(of: try await client.frame().text, after: #"{"id":"\#(id)","type":"next","payload":"#)
        }
    }

    private func appSync(_ server: TestServer, id: String) async throws -> Follower {
        let client = try await server.connect()
        client.requestUpgrade(path: "/graphql/realtime?header=\(Self.header)&payload=e30=", subprotocol: "graphql-ws")
        _ = try await client.response()
        client.sendText(#"{"id":"\#(id)","type":"start","payload":{"data":"{\"query\":\"subscription live\"}"}}"#)
        return Follower(client: client) { client in
            while true {
                let text = try await client.frame().text
                guard text.contains(#""type":"data""#) else { continue }
                return try Self.payload(of: text, after: #"{"id":"\#(id)","type":"data","payload":"#)
            }
        }
    }

    private func events(_ server: TestServer) async throws -> Follower {
        let client = try await server.connect()
        client.send(
            "GET /graphql?query=subscription+live HTTP/1.1\r\nHost: a\r\nAuthorization: good\r\n"
                + "Accept: text/event-stream\r\n\r\n"
        )
        _ = try await client.response()
        return Follower(client: client) { client in
            var text = ""
            while !text.hasSuffix("\n\n") || text.hasPrefix(":") { text = try await client.chunk() }
            return try Self.payload(of: String(text.dropLast()), after: "event: next\ndata: ")
        }
    }

    /// What stands between the head and one last character.
    private static func payload(of text: String, after head: String) throws -> String {
        try #require(text.hasPrefix(head), "\(text)")
        return String(text.dropFirst(head.count).dropLast())
    }

    /// Followers over every carrier, with equal ids and with their own.
    private func followers(_ server: TestServer, _ count: Int) async throws -> [Follower] {
        var followers: [Follower] = []
        for index in 0..<count {
            let follower =
                switch index % 5 {
                case 0, 1: try await common(server, id: "1")
                case 2: try await common(server, id: "own-\(index)")
                case 3: try await appSync(server, id: "a")
                default: try await events(server)
                }
            #expect(await server.service.wait(for: .subscribed))
            followers.append(follower)
        }
        return followers
    }

    @Test("each gets all of it once and in order, by sender or alone, over every carrier, in the same bytes")
    func order() async throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        print("FanOutTests seed \(seed)")
        var random = SeededGenerator(state: seed)
        try await TestServer.with { server in
            let followers = try await followers(server, 40)
            var bodies: [String] = []
            // Faster than the loop, so that responses join rounds that are under way.
            while bodies.count < 150 {
                let some = (0..<Int.random(in: 1...4, using: &random)).map { "{\"data\":\(bodies.count + $0)}" }
                bodies += some
                if Int.random(in: 0..<4, using: &random) == 0 {
                    for body in some { server.service.publish(Array(body.utf8)) }
                } else {
                    server.service.publishTogether(some.map { Array($0.utf8) })
                }
                if Int.random(in: 0..<8, using: &random) == 0 { await Task.yield() }
            }
            for (index, follower) in followers.enumerated() {
                for body in bodies {
                    let got = try await follower.next(follower.client)
                    try #require(got == body, "follower \(index), seed \(seed)")
                }
            }
        }
    }

    @Test("an end comes after what was handed over by sender before it")
    func end() async throws {
        try await TestServer.with { server in
            var clients: [RawClient] = []
            for _ in 0..<30 {
                clients.append(try await common(server, id: "1").client)
                #expect(await server.service.wait(for: .subscribed))
            }
            for number in 1...5 { server.service.publishTogether([Array("{\"data\":\(number)}".utf8)]) }
            server.service.endAll(.completed)
            for client in clients {
                for number in 1...5 { #expect(try await client.frame().text.hasSuffix(":\(number)}}")) }
                #expect(try await client.frame().text == #"{"id":"1","type":"complete"}"#)
            }
        }
    }

    @Test("a subscription completed by its client gets nothing more, and the socket's other one everything")
    func leaving() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.openSession()
            for id in ["1", "2"] {
                client.subscribe(id, "subscription live")
                #expect(await server.service.wait(for: .subscribed))
            }
            server.service.publishTogether([Array("1".utf8)])
            let both = [try await client.frame().text, try await client.frame().text]
            #expect(Set(both) == Set(["1", "2"].map { #"{"id":"\#($0)","type":"next","payload":1}"# }))
            client.sendText(#"{"id":"1","type":"complete"}"#)
            #expect(await server.service.wait(for: .unsubscribed))
            server.service.publishTogether([Array("2".utf8), Array("3".utf8)])
            #expect(try await client.frame().text == #"{"id":"2","type":"next","payload":2}"#)
            #expect(try await client.frame().text == #"{"id":"2","type":"next","payload":3}"#)
        }
    }

    @Test("a sender with much to do says so, wakes who waits, and every socket gets everything")
    func room() async throws {
        try await TestServer.with { server in
            var clients: [RawClient] = []
            for _ in 0..<12 {
                let client = try await server.connect()
                try await client.openSession()
                clients.append(client)
                for id in 1...30 {
                    client.subscribe(String(id), "subscription live")
                    #expect(await server.service.wait(for: .subscribed))
                }
            }
            let woken = AsyncStream<Void>.makeStream()
            var (rounds, refusals) = (0, 0)
            while refusals < 3 {
                rounds += 1
                server.service.publishTogether([Array("\(rounds)".utf8)])
                let hasRoom = server.service.hasRoom { woken.continuation.yield() }
                guard !hasRoom else { continue }
                refusals += 1
                for await _ in woken.stream { break }
            }
            for client in clients {
                var last = [Int](repeating: 0, count: 31)
                for _ in 0..<(rounds * 30) {
                    let text = try await client.text()
                    let id = try #require(text.dropFirst(7).split(separator: "\"").first.flatMap { Int($0) }, "\(text)")
                    last[id] += 1
                    try #require(text.hasSuffix(#""payload":\#(last[id])}"#), "\(text)")
                }
            }
        }
    }

    @Test("what a reader leaves in the system is little before it is cut off")
    func unread() async throws {
        try await TestServer.with { settings in
            settings.maximumQueueBytes = 100_000
        } _: { server in
            let sleeping = try await common(server, id: "1")
            #expect(await server.service.wait(for: .subscribed))
            try await sleeping.client.stopReading()
            let reading = try await common(server, id: "1")
            #expect(await server.service.wait(for: .subscribed))
            let body = "\"" + String(repeating: "x", count: 10_000) + "\""
            var bytes = 0
            while server.service.subscriberCount == 2 {
                bytes += body.utf8.count
                try #require(bytes < 1_500_000, "the system keeps more than 64 kB and what the peer's socket takes")
                server.service.publishTogether([Array(body.utf8)])
                #expect(try await reading.next(reading.client) == body)
            }
        }
    }

    @Test("a reader who takes nothing is cut off, and the others get everything")
    func slow() async throws {
        try await TestServer.with { settings in
            settings.maximumQueueBytes = 200_000
        } _: { server in
            let reading = try await common(server, id: "1")
            #expect(await server.service.wait(for: .subscribed))
            let sleeping = try await common(server, id: "1")
            #expect(await server.service.wait(for: .subscribed))
            try await sleeping.client.stopReading()
            let large = String(repeating: "x", count: 50_000)
            var count = 0
            while server.service.subscriberCount == 2 {
                count += 1
                try #require(count < 2000, "2000 times 50 kB fit nowhere")
                server.service.publishTogether([Array("{\"data\":\"\(count)\(large)\"}".utf8)])
                let got = try await reading.next(reading.client)
                try #require(got.hasPrefix("{\"data\":\"\(count)x"))
            }
            server.service.publishTogether([Array("{}".utf8)])
            #expect(try await reading.next(reading.client) == "{}")
        }
    }
}

/// The same numbers for the same seed (xorshift64).
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
