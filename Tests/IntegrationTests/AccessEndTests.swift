import JSON
import Testing
import TocsinClient

@Suite("Access that ends, on every transport", .timeLimit(.minutes(5)))
struct AccessEndTests {
    /// One subscription of ada's on each transport.
    private struct Listening {
        let socket: RawSocket
        let appSync: RawSocket
        let stream: RawStream

        init(_ installation: Installation, token: String, _ document: String, publish: (String) async throws -> Void)
            async throws
        {
            socket = try await RawSocket(installation, token: token)
            try await socket.subscribe(document)
            let path = AppSyncWords.path(token)
            appSync = try await RawSocket(installation, path: path, subprotocols: "graphql-ws")
            try appSync.send(["type": "connection_init"])
            try appSync.send(AppSyncWords.start("a", document, token: token))
            for type: JSONValue in ["connection_ack", "ka", "start_ack"] {
                guard case .message(let message) = try await appSync.next(), message["type"] == type else {
                    throw HarnessFailure("AppSync's subscription is not live.")
                }
            }
            stream = try RawStream(installation, token: token, document)
            // A stream does not say when it is live: when the first event has come, it is.
            let opened = stream
            try await eventually("the stream is live") {
                try await publish("hello")
                return opened.text.contains("hello")
            }
        }

        /// The first message of the socket that is no event.
        static func ending(_ socket: RawSocket) async throws -> RawSocket.Event {
            while true {
                let event = try await socket.next()
                if case .message(let message) = event, message["type"] == "next" || message["type"] == "data" {
                    continue
                }
                return event
            }
        }
    }

    @Test("a user who is disabled is sent away from all of them")
    func disabled() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            let document = "subscription { onCreateMessage { title } }"
            let listening = try await Listening(installation, token: scene.ada, document) { title in
                _ = try await client.publish(topic: .id(scene.topicID), title: title)
            }
            try await installation.administer(["user", "disable", "ada"])
            guard case .close(let code, _) = try await Listening.ending(listening.socket) else {
                Issue.record("no close")
                return
            }
            #expect(code == 4403)
            guard case .message(let error) = try await Listening.ending(listening.appSync) else {
                Issue.record("no error")
                return
            }
            #expect(error["type"] == "error" && error["id"] == "a")
            #expect(error["payload"]?["errors"]?.arrayValue?.first?["errorType"] == "UnauthorizedException")
            let text = try await listening.stream.untilEnd()
            #expect(text.contains(#""code":"UNAUTHENTICATED""#) && text.contains("event: complete"))
        }
    }

    @Test("a topic that is deleted ends the subscriptions that name it, and leaves the sockets open")
    func deletedTopic() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let client = try installation.makeClient(token: scene.ada)
            let document = "subscription { onCreateMessage(topicId: \"\(scene.topicID)\") { title } }"
            let listening = try await Listening(installation, token: scene.ada, document) { title in
                _ = try await client.publish(topic: .id(scene.topicID), title: title)
            }
            let delete = "mutation($i: DeleteTopicInput!) { deleteTopic(input: $i) { id } }"
            _ = try await client.query(delete, variables: ["i": ["id": .string(scene.topicID), "_version": 1]])
            guard case .message(let error) = try await Listening.ending(listening.socket),
                case .message(let appSyncError) = try await Listening.ending(listening.appSync)
            else {
                Issue.record("no error")
                return
            }
            #expect(error["type"] == "error" && error["id"] == "1")
            #expect(error["payload"]?.arrayValue?.first?["extensions"]?["code"] == "UNAUTHORIZED")
            #expect(appSyncError["payload"]?["errors"]?.arrayValue?.first?["errorType"] == "Unauthorized")
            let text = try await listening.stream.untilEnd()
            #expect(text.contains(#""code":"UNAUTHORIZED""#) && text.contains("event: complete"))

            try listening.socket.send(["type": "ping"])
            guard case .message(let pong) = try await Listening.ending(listening.socket) else {
                Issue.record("the socket has closed")
                return
            }
            #expect(pong["type"] == "pong")
        }
    }
}
