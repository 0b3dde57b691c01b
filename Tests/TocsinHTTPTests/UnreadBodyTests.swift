import GraphQLTransport
import HTTPTypes
import Testing
import TocsinHTTP

@Suite("Bodies of strangers", .timeLimit(.minutes(5)))
struct UnreadBodyTests {
    private static func head(_ fields: String, at path: String = "/graphql", length: Int) -> String {
        "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\(fields)"
            + "Content-Length: \(length)\r\n\r\n"
    }

    @Test(
        "a request is refused by its head, before its body has come, and the connection closed",
        arguments: [
            ("/graphql", "", 401), ("/graphql", "Authorization: evil\r\n", 401),
            ("/graphql", "X-Api-Key: evil\r\n", 401),
            ("/graphql", "Authorization: busy\r\n", 503), ("/graphql", "Accept: text/html\r\n", 406),
            ("/graphql", "Expect: 100-continue\r\n", 401), ("/notes", "", 401), ("/nowhere", "", 404),
            ("/healthz", "", 405),
        ]
    )
    func refused(path: String, fields: String, status: Int) async throws {
        let route = HTTPRoute(.post, "/notes") { request in
            let refusal = OutgoingResponse(status: .unauthorized, contentType: nil)
            return request.credentials.isEmpty ? .refused(refusal) : .admitted(owner: nil)
        } respond: { _ in
            OutgoingResponse(status: .ok, contentType: nil)
        }
        try await TestServer.with(routes: [route]) { server in
            let client = try await server.connect()
            client.send(Self.head(fields, at: path, length: 1_048_575) + String(repeating: "x", count: 1000))
            let answer = await client.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer.prefix(300))")
            #expect(answer.contains("connection: close"))
            let fitting = try await server.connect()
            fitting.send(Self.head("Authorization: good\r\n", at: "/notes", length: 2))
            fitting.send("{}")
            #expect(try await fitting.response().status == 200)
        }
    }

    @Test("a small body is passed over, and the connection serves the next request")
    func passedOver() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.send(Self.head("", length: 20))
            #expect(try await client.response().status == 401, "before the body")
            client.send(#"{"query":"mutation"}"#)
            client.post("a")
            #expect(try await client.response().body.contains("\"echo\":\"a\""))
        }
    }

    @Test("a body waits while its sender is looked up, and is read then")
    func lookedUp() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            let body = #"{"query":"a","extensions":{"x":"\#(String(repeating: "x", count: 400_000))"}}"#
            client.send(Self.head("Authorization: gated\r\n", length: body.utf8.count) + body)
            #expect(await server.service.wait(for: .gateReached))
            server.service.openGates()
            let response = try await client.response()
            #expect(response.status == 200)
            #expect(response.body.contains("\"echo\":\"a\""))
        }
    }

    @Test("bodies in memory are bounded for each owner, and given back with their answers")
    func budget() async throws {
        try await TestServer.with(settings: { $0.maximumMemoryOfOwner = 200_000 }) { server in
            func send(_ query: String, _ token: String, _ client: RawClient) {
                let body = #"{"query":"\#(query)","extensions":{"x":"\#(String(repeating: "x", count: 80_000))"}}"#
                client.send(Self.head("Authorization: \(token)\r\n", length: body.utf8.count) + body)
            }
            let first = try await server.connect()
            send("gate", "good", first)
            #expect(await server.service.wait(for: .gateReached))
            let second = try await server.connect()
            send("a", "good", second)
            let refused = try await second.response()
            #expect(refused.status == 429)
            #expect(refused.fields["retry-after"] == "1")
            #expect(refused.body.contains("LIMIT"))
            let other = try await server.connect()
            send("a", "other", other)
            #expect(try await other.response().status == 200)
            server.service.openGates()
            #expect(try await first.response().status == 200)
            send("a", "good", first)
            #expect(try await first.response().status == 200)
        }
    }

    @Test(
        "the lines of a body in chunks have an end",
        arguments: [
            String(repeating: "0", count: 40_000), "2;" + String(repeating: "x", count: 40_000), "2;a=b\r\n{}\r\n",
            "0\r\n" + String(repeating: "X-Trailer: \(String(repeating: "y", count: 100))\r\n", count: 60),
            "0\r\nX: " + String(repeating: "y", count: 40_000),
            "2 ", "fffffffffffffffff", "\r\n",
        ]
    )
    func chunks(body: String) async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            let fields =
                "Host: a\r\nAuthorization: good\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked"
            client.send("POST /graphql HTTP/1.1\r\n\(fields)\r\n\r\n\(body)")
            let answer = await client.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer.prefix(300))")
            #expect(answer.contains("connection: close"))
        }
    }

    @Test("trailers of a body in chunks are passed over, and the next request follows them")
    func trailers() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            let fields =
                "Host: a\r\nAuthorization: good\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked"
            for piece in [
                "POST /graphql HTTP/1.1\r\n\(fields)\r\n\r\n8\r\n{\"que", "ry\"\r\n5\r\n:\"a\"}\r",
                "\n0\r\nX: y\r\n\r\n",
            ] {
                client.send(piece)
            }
            client.post("b")
            #expect(try await client.response().body.contains("\"echo\":\"a\""))
            #expect(try await client.response().body.contains("\"echo\":\"b\""))
        }
    }
}
