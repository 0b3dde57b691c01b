import Testing
import TocsinHTTP

@Suite("Pages of other origins", .timeLimit(.minutes(5)))
struct CrossOriginTests {
    private static let listed = "https://good.example"

    private func preflight(_ client: RawClient, _ origin: String) async throws -> RawResponse {
        client.send(
            "OPTIONS /graphql HTTP/1.1\r\nHost: a\r\nOrigin: \(origin)\r\nAccess-Control-Request-Method: POST\r\n"
                + "Access-Control-Request-Headers: authorization, content-type\r\n\r\n"
        )
        return try await client.response()
    }

    @Test("a listed origin may ask and read, others get no leave")
    func list() async throws {
        try await TestServer.with(settings: { $0.crossOrigin.allowedOrigins = [Self.listed] }) { server in
            let client = try await server.connect()
            let yes = try await preflight(client, Self.listed)
            #expect(yes.status == 204)
            #expect(yes.fields["access-control-allow-origin"] == Self.listed)
            #expect(yes.fields["access-control-allow-methods"] == "GET, POST, OPTIONS")
            #expect(yes.fields["access-control-allow-headers"]?.contains("authorization, content-type") == true)
            #expect(yes.fields["access-control-max-age"] == "600")
            #expect(yes.fields["access-control-allow-credentials"] == nil)
            #expect(yes.fields["vary"]?.contains("origin") == true)
            let no = try await preflight(client, "https://evil.example")
            #expect(no.status == 403)
            #expect(no.fields["access-control-allow-origin"] == nil)
            #expect(no.fields["vary"]?.contains("origin") == true)
        }
    }

    @Test("answers, refusals too, can be read by listed origins only, and say that they differ")
    func answers() async throws {
        try await TestServer.with(settings: { $0.crossOrigin.allowedOrigins = [Self.listed] }) { server in
            let client = try await server.connect()
            for (origin, allowed) in [(Self.listed, Self.listed), ("https://evil.example", nil), ("null", nil)] {
                client.post("a", fields: "Origin: \(origin)\r\n")
                let answer = try await client.response()
                #expect(answer.fields["access-control-allow-origin"] == allowed)
                #expect(answer.fields["vary"] == "origin")
                client.send("GET /graphql?query=a HTTP/1.1\r\nHost: a\r\nOrigin: \(origin)\r\n\r\n")
                let refusal = try await client.response()
                #expect(refusal.status == 401)
                #expect(refusal.fields["access-control-allow-origin"] == allowed)
            }
        }
    }

    @Test("any origin means any, never with credentials")
    func anyOrigin() async throws {
        try await TestServer.with(settings: {
            $0.crossOrigin.allowedOrigins = ["*"]
        }) { server in
            let answer = try await preflight(try await server.connect(), "https://any.example")
            #expect(answer.fields["access-control-allow-origin"] == "*")
            #expect(answer.fields["access-control-allow-credentials"] == nil)
        }
    }

    @Test("an origin is compared without case; fields and age are as the settings say")
    func settings() async throws {
        try await TestServer.with(settings: {
            $0.crossOrigin.allowedOrigins = [Self.listed]
            $0.crossOrigin.requestFields.append("x-app-version")
            $0.crossOrigin.maximumAgeSeconds = 7
        }) { server in
            let answer = try await preflight(try await server.connect(), "HTTPS://GOOD.example")
            #expect(answer.fields["access-control-allow-credentials"] == nil)
            #expect(answer.fields["access-control-allow-headers"]?.hasSuffix(", x-app-version") == true)
            #expect(answer.fields["access-control-max-age"] == "7")
        }
    }

    @Test("without a list there is no leave, and OPTIONS without a question is no method")
    func off() async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            #expect(try await preflight(client, Self.listed).status == 403)
            client.send("OPTIONS /graphql HTTP/1.1\r\nHost: a\r\n\r\n")
            let plain = try await client.response()
            #expect(plain.status == 405)
            #expect(plain.fields["allow"] == "GET, POST")
        }
    }
}
