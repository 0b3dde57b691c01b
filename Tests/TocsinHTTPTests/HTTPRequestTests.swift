import HTTPTypes
import Testing
import TocsinHTTP

@Suite("HTTP requests", .timeLimit(.minutes(5)))
struct HTTPRequestTests {
    @Test("a query is answered and the connection is kept")
    func keepAlive() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            for number in 1...3 {
                client.post("q\(number)")
                let response = try await client.response()
                #expect(response.status == 200)
                #expect(response.body.contains("\"echo\":\"q\(number)\""))
                #expect(response.fields["content-type"] == "application/json; charset=utf-8")
                #expect(response.fields["date"] == "Sun, 06 Nov 1994 08:49:37 GMT")
                #expect(response.fields["connection"] == nil)
            }
        }
    }

    @Test("pipelined requests are answered in their order")
    func pipelining() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            for number in 1...50 { client.post("q\(number)") }
            for number in 1...50 {
                let response = try await client.response()
                #expect(response.body.contains("\"echo\":\"q\(number)\""))
            }
        }
    }

    @Test("fields are known by their names in any case")
    func fieldNames() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            let body = #"{"query":"any case"}"#
            client.send(
                "POST /graphql HTTP/1.1\r\nHOST: a\r\naUTHORIZATION: Bearer good\r\nCONTENT-type: application/json\r\n"
                    + "content-LENGTH: \(body.utf8.count)\r\nX-Api-Kez: none\r\n\r\n\(body)"
            )
            let response = try await client.response()
            #expect(response.status == 200)
            #expect(response.body.contains("\"echo\":\"any case\""))
        }
    }

    @Test("a query may come with GET")
    func get() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            let target = "/graphql?query=a+b%21&variables=%7B%22x%22%3A1%7D"
            client.send("GET \(target) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n")
            let response = try await client.response()
            #expect(response.status == 200)
            #expect(response.body == #"{"data":{"echo":"a b!","variables":{"x":1}}}"#)
        }
    }

    @Test(
        "each fault of a request has its status",
        arguments: [
            ("GET /graphql?query=mutation HTTP/1.1", "Authorization: good", "", 405),
            ("DELETE /graphql HTTP/1.1", "Authorization: good", "", 405),
            ("GET /nowhere HTTP/1.1", "", "", 404),
            ("POST /healthz HTTP/1.1", "", "", 405),
            ("GET /healthz HTTP/1.1", "", "", 200),
            ("GET /readyz HTTP/1.1", "", "", 200),
            ("GET /graphql?query=a HTTP/1.1", "", "", 401),
            ("GET /graphql?query=a HTTP/1.1", "Authorization: wrong", "", 401),
            ("GET /graphql?query=a HTTP/1.1", "x-api-key: good", "", 200),
            ("GET /graphql?query=a HTTP/1.1", "Authorization: busy", "", 503),
            ("GET /graphql?query=a HTTP/1.1", "Authorization: good\r\nAccept: text/html", "", 406),
            ("GET /graphql?query=bad HTTP/1.1", "Authorization: good", "", 200),
            (
                "GET /graphql?query=bad HTTP/1.1",
                "Authorization: good\r\nAccept: application/graphql-response+json", "", 400
            ),
            ("GET /graphql?query=often HTTP/1.1", "Authorization: good", "", 429),
            ("GET /graphql HTTP/1.1", "Authorization: good", "", 400),
            ("POST /graphql HTTP/1.1", "Authorization: good\r\nContent-Type: text/plain", "{}", 415),
            ("POST /graphql HTTP/1.1", "Authorization: good", "{}", 415),
            (
                "POST /graphql HTTP/1.1",
                "Authorization: good\r\nContent-Type: application/json\r\nContent-Encoding: gzip", "{}", 415
            ),
            ("POST /graphql HTTP/1.1", "Authorization: good\r\nContent-Type: application/json", "{", 400),
            ("POST /graphql HTTP/1.1", "Authorization: good\r\nContent-Type: application/json", "[]", 400),
        ]
    )
    func status(line: String, fields: String, body: String, expected: Int) async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            let head = [line, "Host: a", fields, "Content-Length: \(body.utf8.count)"].filter { !$0.isEmpty }
            client.send(head.joined(separator: "\r\n") + "\r\n\r\n" + body)
            let response = try await client.response()
            #expect(response.status == expected)
            #expect(expected == 200 || response.body.contains("errors"))
            client.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await client.response().status == 200, "the connection is still good")
        }
    }

    @Test("a refused token is told in AppSync's words to those who speak JSON")
    func unauthorized() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.send("GET /graphql?query=a HTTP/1.1\r\nHost: a\r\n\r\n")
            let response = try await client.response()
            #expect(response.fields["www-authenticate"] == "Bearer")
            let message = "Valid authorization header not provided."
            let error = #""errorType":"UnauthorizedException","message":"\#(message)""#
            #expect(response.body == #"{"errors":[{\#(error),"extensions":{"code":"UNAUTHENTICATED"}}]}"#)
        }
    }

    @Test("HEAD has the head of GET and no body")
    func head() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.send("HEAD /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await client.response(hasBody: false).fields["content-length"] == "15")
            client.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await client.response().body == #"{"status":"ok"}"#)
        }
    }

    @Test("a route of its own answers its path and methods")
    func routes() async throws {
        let route = HTTPRoute(.get, "/files/*") { request in
            OutgoingResponse(status: .ok, contentType: "text/plain", body: Array(request.path.utf8))
        }
        try await TestServer.with(routes: [route]) { server in
            let client = try await server.connect()
            client.send("GET /files/a.txt HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await client.response().body == "/files/a.txt")
            client.send("POST /files/a.txt HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
            let refused = try await client.response()
            #expect(refused.status == 405)
            #expect(refused.fields["allow"] == "GET")
        }
    }

    @Test("a body in chunks is put together")
    func chunks() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            let fields = "Host: a\r\nAuthorization: good\r\nContent-Type: application/json"
            client.send("POST /graphql HTTP/1.1\r\n\(fields)\r\nTransfer-Encoding: chunked\r\n\r\n")
            client.send("8\r\n{\"query\"\r\n5\r\n:\"a\"}\r\n0\r\n\r\n")
            #expect(try await client.response().body.contains("\"echo\":\"a\""))
        }
    }

    @Test("who expects to be told to go on is told")
    func continues() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            let fields = "Host: a\r\nAuthorization: good\r\nContent-Type: application/json\r\nExpect: 100-continue"
            client.send("POST /graphql HTTP/1.1\r\n\(fields)\r\nContent-Length: 13\r\n\r\n")
            #expect(try await client.read(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            client.send(#"{"query":"a"}"#)
            #expect(try await client.response().status == 200)
        }
    }

    @Test("an upgrade that is not spoken is passed over, and the answer is the connection's last")
    func otherUpgrade() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.post("a", fields: "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n")
            let answer = await client.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(answer.contains("connection: close"))
            #expect(answer.contains("\"echo\":\"a\""))
        }
    }

    @Test("HTTP/1.0 closes unless it asks otherwise")
    func oldVersion() async throws {
        try await TestServer.with { server in
            let kept = try await server.connect()
            kept.send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            #expect(try await kept.response().fields["connection"] == "keep-alive")
            kept.send("GET /healthz HTTP/1.0\r\n\r\n")
            #expect(await kept.readToEnd().contains("connection: close"))
        }
    }

    @Test("a request whose client has gone is cancelled")
    func cancellation() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.send("GET /graphql?query=hang HTTP/1.1\r\nHost: a\r\nAuthorization: good\r\n\r\n")
            #expect(await server.service.wait(for: .hanging))
            client.close()
            #expect(await server.service.wait(for: .cancelled))
        }
    }

    @Test("a POST whose client sends nothing more is answered all the same")
    func halfClosed() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.post("a")
            try await client.endOutput()
            #expect(try await client.response().status == 200)
            #expect(await client.readToEnd() == "")
        }
    }

    @Test("bytes after a last request do not cost it its answer")
    func trailingBytes() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.post("a", fields: "Connection: close\r\n", then: "abc")
            #expect(try await client.response().status == 200)
        }
    }

    @Test("two Authorization headers are refused")
    func twoCredentials() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.post("a", fields: "Authorization: other\r\n")
            #expect(try await client.response().status == 400)
        }
    }
}
