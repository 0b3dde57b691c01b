import JSON
import Testing
import TocsinClient

@Suite("AppSync's sockets and event streams, as served", .timeLimit(.minutes(5)))
struct RealtimeTests {
    private func message(_ socket: RawSocket) async throws -> JSONValue {
        guard case .message(let message) = try await socket.next() else { throw HarnessFailure("The socket closed.") }
        return message
    }

    @Test("a subscription hears of its owner's messages, and one that asks for another's is refused alone")
    func subscription() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let socket = try await RawSocket(
                installation,
                path: AppSyncWords.path(scene.ada),
                subprotocols: "graphql-ws"
            )
            try socket.send(["type": "connection_init"])
            #expect(try await message(socket)["payload"] == ["connectionTimeoutMs": 300_000])
            #expect(try await message(socket) == ["type": "ka"])

            let document = "subscription { onCreateMessage(owner: \"ada\") { title owner _version } }"
            try socket.send(AppSyncWords.start("a", document, token: scene.ada))
            #expect(try await message(socket) == ["id": "a", "type": "start_ack"])
            try socket.send(AppSyncWords.start("b", document, token: scene.bob))
            let error = "Not Authorized to access onCreateMessage on type Subscription"
            #expect(
                try await message(socket)
                    == [
                        "id": "b", "type": "error",
                        "payload": ["errors": [["errorType": "Unauthorized", "message": .string(error)]]],
                    ]
            )
            _ = try await installation.makeClient(token: scene.ada).publish(topic: .id(scene.topicID), title: "first")
            #expect(
                try await message(socket)
                    == [
                        "id": "a", "type": "data",
                        "payload": ["data": ["onCreateMessage": ["title": "first", "owner": "ada", "_version": 1]]],
                    ]
            )
            try socket.send(["id": "a", "type": "stop"])
            #expect(try await message(socket) == ["id": "a", "type": "complete"])
        }
    }

    @Test("a bad token is told on the open socket, which is then closed with 4401")
    func refusal() async throws {
        try await Installation.run { installation in
            let socket = try await RawSocket(installation, path: AppSyncWords.path("wrong"), subprotocols: "graphql-ws")
            let error = try await message(socket)
            #expect(error["type"] == "connection_error")
            let first = error["payload"]?["errors"]?.arrayValue?.first
            #expect(first?["errorType"] == "UnauthorizedException")
            #expect(first?["errorCode"] == 401)
            #expect(try await socket.untilClosed() == 4401)
        }
    }

    @Test("a query over an event stream is one event and complete, an invalid one its errors")
    func eventStream() async throws {
        try await Installation.run { installation in
            let token = try await installation.addUser("ada")
            let accept = ["--header", "Accept: text/event-stream", "--header", "Content-Type: application/json"]
            let query = ["--data-binary", #"{"query":"{ me { username } }"}"#]
            let answer = try await installation.http("/graphql", token: token, accept + query)
            #expect(answer.status == 200)
            #expect(answer.header("content-type") == "text/event-stream; charset=utf-8")
            #expect(
                answer.body
                    == "event: next\ndata: {\"data\":{\"me\":{\"username\":\"ada\"}}}\n\nevent: complete\ndata:\n\n"
            )
            let wrong = ["--data-binary", #"{"query":"{ nothing }"}"#]
            let refused = try await installation.http("/graphql", token: token, accept + wrong)
            #expect(refused.status == 200)
            #expect(refused.body.contains("GRAPHQL_VALIDATION_FAILED"))
            #expect(refused.body.hasSuffix("\n\nevent: complete\ndata:\n\n"))
        }
    }
}
