import Foundation
import GraphQLTransport
import Testing
import TocsinHTTP

@Suite("AppSync sockets", .timeLimit(.minutes(5)))
struct AppSyncSocketTests {
    private static func header(_ json: String) -> String { Data(json.utf8).base64EncodedString() }
    private static let good = header(#"{"host":"h","Authorization":"good"}"#)

    private func start(_ id: String, _ query: String, token: String? = nil) -> String {
        let extensions = token.map { #","extensions":{"authorization":{"host":"h","Authorization":"\#($0)"}}"# } ?? ""
        return #"{"id":"\#(id)","type":"start","payload":{"data":"{\"query\":\"\#(query)\"}"\#(extensions)}}"#
    }

    /// Opens a socket and is acknowledged.
    private func open(_ server: TestServer) async throws -> RawClient {
        let client = try await server.connect()
        client.requestUpgrade(path: "/graphql/realtime?header=\(Self.good)&payload=e30=", subprotocol: "graphql-ws")
        #expect(try await client.response().fields["sec-websocket-protocol"] == "graphql-ws")
        client.sendText(#"{"type":"connection_init"}"#)
        let ack = try await client.frame().text
        #expect(ack == #"{"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}"#)
        #expect(try await client.frame().text == #"{"type":"ka"}"#)
        return client
    }

    @Test(
        "credentials come as parameter, subprotocol or field, on both paths",
        arguments: [
            ("/graphql/realtime?header=\(good)&payload=e30=", "graphql-ws", ""),
            ("/graphql?header=\(good)&payload=e30=", "graphql-ws", ""),
            ("/graphql/realtime", "graphql-ws, header-\(good.replacing("=", with: ""))", ""),
            ("/graphql", "header-\(good.replacing("=", with: "")), graphql-ws", ""),
            ("/graphql/realtime", "graphql-ws", "Authorization: good\r\n"),
            ("/graphql", "graphql-ws", "X-Api-Key: good\r\n"),
        ]
    )
    func handshakes(path: String, subprotocol: String, fields: String) async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.requestUpgrade(path: path, subprotocol: subprotocol, fields: fields)
            let response = try await client.response()
            #expect(response.status == 101)
            #expect(response.fields["sec-websocket-protocol"] == "graphql-ws")
            client.sendText(#"{"type":"connection_init"}"#)
            #expect(try await client.frame().text.contains("connection_ack"))
        }
    }

    @Test(
        "a bad handshake is accepted, then told why, then closed",
        arguments: [
            ("/graphql/realtime?header=\(header(#"{"Authorization":"wrong"}"#))", "graphql-ws", 401, 4401),
            ("/graphql/realtime?header=!", "graphql-ws", 401, 4401), ("/graphql/realtime", "graphql-ws", 401, 4401),
            ("/graphql/realtime?header=\(header(#"{"Authorization":"busy"}"#))", "graphql-ws", 503, 1013),
            ("/graphql/realtime?header=\(good)", "other", 400, 4406),
        ]
    )
    func refusals(path: String, subprotocol: String, status: Int, code: Int) async throws {
        try await TestServer.with(settings: { $0.session.farewellMilliseconds = 50 }) { server in
            let client = try await server.connect()
            client.requestUpgrade(path: path, subprotocol: subprotocol)
            #expect(try await client.response().status == 101)
            let error = try await client.frame().text
            #expect(error.hasPrefix(#"{"type":"connection_error","payload":{"errors":[{"errorType":""#))
            #expect(error.contains("\"errorCode\":\(status)"))
            #expect(try await client.closeFrame().closeCode == code)
        }
    }

    @Test("a subscription is registered before it is acknowledged, delivers, and stops")
    func subscription() async throws {
        try await TestServer.with { server in
            let client = try await open(server)
            client.sendText(start("s-1", "subscription live"))
            #expect(try await client.frame().text == #"{"id":"s-1","type":"start_ack"}"#)
            server.service.publish(Array(#"{"data":{"x":1}}"#.utf8))
            #expect(try await client.frame().text == #"{"id":"s-1","type":"data","payload":{"data":{"x":1}}}"#)
            client.sendText(#"{"id":"s-1","type":"stop"}"#)
            #expect(try await client.frame().text == #"{"id":"s-1","type":"complete"}"#)
            #expect(await server.service.wait(for: .unsubscribed))
            client.sendText(#"{"id":"s-1","type":"stop"}"#)
            client.sendText(start("s-2", "subscription refused"))
            #expect(
                try await client.frame().text.hasPrefix(
                    #"{"id":"s-2","type":"error","payload":{"errors":[{"errorType":"#
                )
            )
        }
    }

    @Test("each subscription's own token counts, and fails or ends alone")
    func ownCredentials() async throws {
        try await TestServer.with { server in
            let client = try await open(server)
            client.sendText(start("a", "subscription live", token: "good"))
            #expect(try await client.frame().text == #"{"id":"a","type":"start_ack"}"#)
            client.sendText(start("b", "subscription live", token: "wrong"))
            let refused = try await client.frame().text
            #expect(refused.contains(#""id":"b""#) && refused.contains("UnauthorizedException"))
            client.sendText(start("c", "subscription live", token: "brief"))
            var ended = try await client.frame().text
            if ended.contains("start_ack") { ended = try await client.frame().text }
            #expect(ended.contains(#""id":"c","type":"error""#) && ended.contains("Token has expired."))
            client.sendText(start("d", "q"))
            #expect(try await client.frame().text.contains("UnsupportedOperation"))
            client.sendText(start("e", "bad"))
            #expect(try await client.frame().text.contains("BadRequestException"))
            server.service.publish(Array("{}".utf8))
            #expect(try await client.frame().text == #"{"id":"a","type":"data","payload":{}}"#)
        }
    }

    @Test("signs of life go out on their own")
    func keepAlive() async throws {
        try await TestServer.with(settings: { $0.session.keepAliveMilliseconds = 20 }) { server in
            let client = try await open(server)
            for _ in 1...3 { #expect(try await client.frame().text == #"{"type":"ka"}"#) }
        }
    }

    @Test("the other protocol is still spoken on both paths", arguments: ["/graphql", "/graphql/realtime"])
    func neighbour(path: String) async throws {
        try await TestServer.with { server in
            let client = try await server.connect()
            client.requestUpgrade(path: path, subprotocol: "graphql-transport-ws")
            #expect(try await client.response().fields["sec-websocket-protocol"] == "graphql-transport-ws")
            client.sendText(RawClient.initMessage)
            #expect(try await client.frame().text == #"{"type":"connection_ack"}"#)
        }
    }
}
