import HTTPTypes
import Testing
import TocsinHTTP

@Suite("Requests that follow others of nearly the same head", .timeLimit(.minutes(5)))
struct RepeatedHeadTests {
    @Test("the credentials of each request count, whatever the last one on its connection showed")
    func changingCredentials() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            for (token, status) in [("good", 200), ("good", 200), ("evil", 401), ("busy", 503), ("good", 200)] {
                client.sendQuery("a", fields: "Authorization: \(token)\r\n")
                #expect(try await client.response().status == status)
            }
            client.sendQuery("a", fields: "X-Other-One__: good\r\n")
            #expect(try await client.response().status == 401)
        }
    }

    @Test("a caller who was recognized on a connection is refused on it as soon as access is lost")
    func lostAccess() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.repeatQuery(as: "known")
            server.service.lose("known")
            client.sendQuery("a", fields: "Authorization: known\r\n")
            #expect(try await client.response().status == 401)
            #expect(
                server.service.authentications == 1,
                "one of the three was authenticated, the others were recognized"
            )
        }
    }

    @Test(
        "a head is checked however much it is like the last one on its connection",
        arguments: [
            ("Content-Length: 1x\r\n", 400), ("Content-Length: 99999999\r\n", 413),
            ("Transfer-Encoding: gzip\r\n", 501),
            ("Content-Length: 13\r\nContent-Length: 13\r\n", 400), ("Expect: the-worst\r\n", 417),
        ]
    )
    func laterHeads(fields: String, status: Int) async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            let good = "Authorization: good\r\n"
            client.sendQuery("a", fields: good)
            #expect(try await client.response().status == 200)
            client.send("POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\(good)\(fields)\r\n")
            #expect(try await client.response().status == status)
        }
    }

    @Test("a value is the last one's only by its bytes, not by what stands for the same letters")
    func spellings() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            // The second is the sign for kelvin, which Unicode takes for a K.
            for (host, status) in [("K", 200), ("K", 200), ("\u{212A}", 400)] {
                let body = #"{"query":"a"}"#
                client.send(
                    "POST /graphql HTTP/1.1\r\nHost: \(host)\r\nAuthorization: good\r\nContent-Type: application/json\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
                #expect(try await client.response().status == status)
            }
        }
    }

    @Test(
        "a length of the body is judged alike in a connection's first head and in one that is else the last one's",
        arguments: [
            "13", "013", "000000013", "0000000013", " 13", "\t13", "13 ", "13, 13", "1x", "+13", "-13", "0x0d", "1 3",
            "", "99999999", "999999999", "9999999999", "99999999999999999999",
        ]
    )
    func lengths(length: String) async throws {
        func head(_ length: String) -> String {
            "POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: good\r\nContent-Type: application/json\r\n"
                + "Content-Length:\(length)\r\nX-After: 1\r\n\r\n" + #"{"query":"a"}"#
        }
        try await TestServer.with { server in
            let (fresh, warm) = (try await server.connect(), try await server.connect())
            fresh.send(head(length))
            let first = try await fresh.response()
            for _ in 1...2 {
                warm.send(head("13"))
                #expect(try await warm.response().status == 200)
            }
            warm.send(head(length))
            let later = try await warm.response()
            #expect((later.status, later.body) == (first.status, first.body))
        }
    }

    @Test("a body that does not end is refused in time, or when the client ends, though its head is known")
    func missingBodies() async throws {
        for isEnded in [false, true] {
            // Who ends must not be refused for the time that takes.
            try await TestServer.with(settings: { if !isEnded { $0.bodyMilliseconds = 50 } }) { server in
                let client = try await server.connect()
                try await client.repeatQuery(as: "good")
                let head = "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                client.send(head + "Authorization: good\r\nContent-Length: 20\r\n\r\n{\"query\"")
                if isEnded { try await client.endOutput() }
                let rest = await client.readToEnd()
                #expect(isEnded ? rest == "" : rest.hasPrefix("HTTP/1.1 408 "))
            }
        }
    }

    @Test("a connection that has sent the same head again and again can still become a socket")
    func laterSocket() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            try await client.repeatQuery(as: "good")
            try await client.openSession()
            client.subscribe("1", "q")
            #expect(try await client.frame().text.contains("\"echo\""))
        }
    }

    @Test("requests are the same however they are cut and whatever runs into them")
    func pieces() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = RandomInputTests.Random(state: seed)
        let route = HTTPRoute(.get, "/note") { request in
            OutgoingResponse(status: .ok, contentType: nil, body: Array((request.header("x-note") ?? "").utf8))
        }
        try await TestServer.with(routes: [route]) { server in
            let witness = try await server.connect()
            for connection in 1...24 {
                let client = try await server.connect()
                var bytes: [UInt8] = []
                var expected: [String] = []
                for number in 1...12 {
                    let sample = Sample.random(number, mayBeChunked: connection % 3 == 0, &random)
                    bytes += Array(sample.request.utf8)
                    expected.append(sample.answer)
                    // Those of every second connection wait for their answers, as
                    // those of most clients do.
                    if connection % 2 == 0 || Bool.random(using: &random) {
                        try await client.sendInPieces(bytes, by: witness, &random)
                        bytes = []
                        for answer in expected {
                            // What does not come is an empty answer here, so that the seed is told.
                            let body = (try? await client.response().body) ?? ""
                            try #require(body.contains(answer), "seed \(seed)")
                        }
                        expected = []
                    }
                }
            }
        }
    }

    /// A request, and what its answer has in it.
    private struct Sample {
        let request: String
        let answer: String

        static func random(_ number: Int, mayBeChunked: Bool, _ random: inout some RandomNumberGenerator) -> Sample {
            let text = "q" + String(repeating: "x", count: Int.random(in: 0...120, using: &random)) + "\(number)"
            let body = #"{"query":"\#(text)"}"#
            let head = "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            let answer = #""echo":"\#(text)""#
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                let note = "n\(Int.random(in: 0...2, using: &random))"
                return Sample(request: "GET /note HTTP/1.1\r\nHost: a\r\nX-Note: \(note)\r\n\r\n", answer: note)
            case 1 where mayBeChunked:
                let chunk = "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
                let request = head + "Authorization: good\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk
                return Sample(request: request, answer: answer)
            case 2:
                let request = head + "Content-Length: \(body.utf8.count)\r\nAuthorization: evil\r\n\r\n" + body
                return Sample(request: request, answer: "not authorized")
            default:
                let request = head + "Content-Length: \(body.utf8.count)\r\nAuthorization: good\r\n\r\n" + body
                return Sample(request: request, answer: answer)
            }
        }
    }

    @Test("bodies of any length may follow each other, and fields that nobody asks for may change")
    func changingLengths() async throws {
        let route = HTTPRoute(.get, "/note") { request in
            OutgoingResponse(status: .ok, contentType: nil, body: Array((request.header("x-note") ?? "").utf8))
        }
        try await TestServer.with(routes: [route]) { server in
            let client = try await server.connect()
            for query in ["a", "a longer one", "", "the longest of all of them"] {
                client.sendQuery("q\(query)", fields: "Authorization: good\r\nX-Number: \(query.count)\r\n")
                #expect(try await client.response().body.contains("\"echo\":\"q\(query)\""))
            }
            for note in (1...20).map({ "\($0)" }) + ["one", "one", "two"] {
                client.send("GET /note HTTP/1.1\r\nHost: a\r\nX-Note: \(note)\r\n\r\n")
                #expect(try await client.response().body == note)
            }
        }
    }
}

extension RawClient {
    /// Sends bytes in up to three pieces, each of which the server has read
    /// before the next is sent.
    fileprivate func sendInPieces(
        _ bytes: [UInt8],
        by witness: RawClient,
        _ random: inout some RandomNumberGenerator
    ) async throws {
        var rest = bytes[...]
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let cut = Int.random(in: rest.startIndex...rest.endIndex, using: &random)
            send(Array(rest[..<cut]))
            rest = rest[cut...]
            // On the same loop: when the second is answered, what came before
            // the first has been read.
            for _ in 1...2 {
                witness.post("q")
                _ = try await witness.response()
            }
        }
        send(Array(rest))
    }

    /// Sends a query with this token three times, each after the answer to the one before.
    fileprivate func repeatQuery(as token: String) async throws {
        for _ in 1...3 {
            sendQuery("a", fields: "Authorization: \(token)\r\n")
            #expect(try await response().status == 200)
        }
    }

    /// Sends a query with these fields and no credentials beside them.
    fileprivate func sendQuery(_ query: String, fields: String) {
        let body = #"{"query":"\#(query)"}"#
        send(
            "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\(fields)"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
    }
}
