import Testing
import TocsinHTTP

@Suite("Random input", .timeLimit(.minutes(5)))
struct RandomInputTests {
    /// A linear congruential generator, so that a printed seed brings the same run again.
    struct Random: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    private static let requests = [
        "POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: good\r\nContent-Type: application/json\r\n"
            + "Content-Length: 13\r\n\r\n{\"query\":\"a\"}",
        "POST /graphql HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: u\r\n\r\n",
        "GET /graphql?query=a%20b&variables=%7B%7D HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n",
    ]

    @Test("mutilated requests harm nobody else")
    func http() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = Random(state: seed)
        try await TestServer.with { server in
            for _ in 0..<150 {
                let client = try await server.connect()
                client.send(Self.mutilated(Array((Self.requests.randomElement(using: &random) ?? "").utf8), &random))
                client.send(Self.mutilated(Array((Self.requests.randomElement(using: &random) ?? "").utf8), &random))
                client.close()
            }
            let witness = try await server.connect()
            witness.post("a")
            #expect(try await witness.response().status == 200, "seed \(seed)")
        }
    }

    @Test("mutilated frames harm nobody else")
    func frames() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = Random(state: seed)
        try await TestServer.with { server in
            for _ in 0..<100 {
                let client = try await server.connect()
                try await client.openSession()
                client.subscribe("1", "subscription live")
                for _ in 0..<5 {
                    let length = Int.random(in: 0...40, using: &random)
                    let noise = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
                    if Bool.random(using: &random) {
                        client.send(noise)
                    } else {
                        client.sendFrame(UInt8.random(in: 0...255, using: &random), noise)
                    }
                }
                client.close()
            }
            let witness = try await server.connect()
            try await witness.openSession()
            witness.subscribe("1", "q")
            #expect(try await witness.frame().text.contains("\"echo\""), "seed \(seed)")
        }
    }

    private static func mutilated(_ request: [UInt8], _ random: inout Random) -> [UInt8] {
        var bytes = request
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
            default: bytes.remove(at: index)
            }
        }
        return bytes
    }
}
