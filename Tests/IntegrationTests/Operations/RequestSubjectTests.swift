import Foundation
import JSON
import Testing
import TocsinClient

/// Operators look for a topic or a message in the log: each request that was about one says so.
@Suite("What the log says requests were about", .timeLimit(.minutes(5)))
struct RequestSubjectTests {
    private static let create = "mutation Publish($i: CreateMessageInput!) { createMessage(input: $i) { id } }"

    @Test("a request about a topic or a message has its id in its line, by whatever way it came")
    func ways() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let topic = JSONValue.string(scene.topicID)
            let made = try await installation.curl(
                Self.create,
                ["i": ["topicId": topic, "type": 1, "title": "by GraphQL", "body": "b"]],
                token: scene.ada
            )
            let message = try #require(made["data"]?["createMessage"]?["id"], "\(made)")
            let rest: JSONValue = ["topic_id": topic, "title": "by REST", "message": "text"]
            let answer = try await installation.http(
                "/tcm/create-message",
                token: scene.ada,
                ["--json", rest.serializedString()]
            )
            #expect(answer.status == 201, "\(answer)")
            let line = try await installation.http("/alerts", token: scene.ada, ["--data", "by one line"])
            #expect(line.status == 200, "\(line)")
            let absent = #"{ getMessage(id: "not-there") { id } }"#
            _ = try await installation.curl(absent, token: scene.ada)
            _ = try await installation.curl("{ me { userId } }", token: scene.ada)

            let requests = try await eventually("all are logged") { () -> [JSONValue]? in
                let lines = installation.logLines.filter { $0["event"] == "request" && $0["user"] != nil }
                // The one before it made the topic.
                return lines.count >= 6 ? lines : nil
            }
            let publish = try #require(requests.first { $0["operation"] == "Publish" || $0["message_id"] == message })
            #expect(publish["topic"] == topic && publish["message_id"] == message, "\(publish)")
            for path in ["/tcm/create-message", "/alerts"] {
                let line = try #require(requests.first { $0["path"] == .string(path) }, "\(requests)")
                #expect(line["topic"] == topic, "\(line)")
                #expect(line["message_id"]?.stringValue?.isEmpty == false && line["message_id"] != message, "\(line)")
            }
            let creating = try #require(requests.first { $0["topic"] == topic && $0["message_id"] == nil })
            #expect(creating["path"] == "/graphql")
            let asking = try #require(requests.first { $0["message_id"] == "not-there" }, "\(requests)")
            #expect(asking["topic"] == nil)
            let last = try #require(requests.last)
            #expect(last["topic"] == nil && last["message_id"] == nil, "\(last)")
        }
    }

    @Test("a line has at most 100 scalars of an id that a client gave, whatever they are shown as")
    func lengths() async throws {
        try await Installation.run { installation in
            let token = try await installation.addUser("ada")
            let accents = String(repeating: "\u{301}", count: 5000)
            for id in [String(repeating: "a", count: 5000), "e" + accents] {
                let document = "query($i: ID!) { getMessage(id: $i) { id } }"
                _ = try await installation.curl(document, ["i": .string(id)], token: token)
            }
            let logged = try await eventually("both are logged") { () -> [String]? in
                let ids = installation.logLines.compactMap { $0["message_id"]?.stringValue }
                return ids.count == 2 ? ids : nil
            }
            #expect(logged.map(\.unicodeScalars.count) == [100, 100])
        }
    }

    @Test("each operation over a WebSocket has a line, which says what it was about")
    func socket() async throws {
        try await Installation.run { installation in
            let scene = try await ReceiverScene(installation)
            let socket = try await RawSocket(installation, token: scene.ada)
            try await socket.untilReady()
            try socket.send([
                "id": "1", "type": "subscribe",
                "payload": [
                    "query": .string(Self.create), "operationName": "Publish",
                    "variables": ["i": ["topicId": .string(scene.topicID), "type": 1, "title": "t", "body": "b"]],
                ],
            ])
            guard case .message(let answer) = try await socket.next() else {
                throw HarnessFailure("the socket has ended")
            }
            let message = try #require(answer["payload"]?["data"]?["createMessage"]?["id"], "\(answer)")
            try socket.send([
                "id": "2", "type": "subscribe",
                "payload": ["query": "subscription Follow { onCreateMessage { id } }", "operationName": "Follow"],
            ])
            let lines = try await eventually("both operations are logged") { () -> [JSONValue]? in
                let lines = installation.logLines.filter { $0["event"] == "operation" }
                return lines.count == 2 ? lines : nil
            }
            #expect(lines[0]["operation"] == "Publish" && lines[0]["operation_type"] == "mutation", "\(lines)")
            #expect(lines[0]["topic"] == .string(scene.topicID) && lines[0]["message_id"] == message, "\(lines)")
            #expect(lines[0]["user"]?.stringValue?.isEmpty == false && lines[0]["bytes"]?.intValue ?? 0 > 0)
            #expect(lines[1]["operation"] == "Follow" && lines[1]["operation_type"] == "subscription", "\(lines)")
            // Both stand under the id of the request that opened the socket.
            #expect(lines[0]["request_id"] == lines[1]["request_id"] && lines[0]["request_id"] != nil)
        }
    }
}
