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
            for _ in 1...3 {
                client.sendQuery("a", fields: "Authorization: known\r\n")
                #expect(try await client.response().status == 200)
            }
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
            for note in ["one", "two"] {
                client.send("GET /note HTTP/1.1\r\nHost: a\r\nX-Note: \(note)\r\n\r\n")
                #expect(try await client.response().body == note)
            }
        }
    }
}

extension RawClient {
    /// Sends a query with these fields and no credentials beside them.
    fileprivate func sendQuery(_ query: String, fields: String) {
        let body = #"{"query":"\#(query)"}"#
        send(
            "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\(fields)"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
    }
}
