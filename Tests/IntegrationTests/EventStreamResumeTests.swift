import JSON
import Testing
import TocsinClient

@Suite("Event streams that are resumed, as served", .timeLimit(.minutes(5)))
struct EventStreamResumeTests {
    /// A stream of one topic's messages, with what came of it so far.
    private struct Stream {
        let connection: RawConnection

        init(_ installation: Installation, topic: String, after: String, lastEventID: String?, token: String) throws {
            let port = installation.server?.port ?? 0
            let body: JSONValue = [
                "query":
                    "subscription($t: ID, $a: String) { onCreateMessage(topicId: $t, after: $a) { title cursor } }",
                "variables": ["t": .string(topic), "a": .string(after)],
            ]
            let text = body.serializedString()
            connection = try RawConnection(port: port)
            try connection.send(
                "POST /graphql HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\n"
                    + "Accept: text/event-stream\r\nContent-Type: application/json\r\n"
                    + (lastEventID.map { "Last-Event-ID: \($0)\r\n" } ?? "")
                    + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)"
            )
        }

        /// Every event so far, its id and its response; each is a chunk of its own, so
        /// that its lines are whole.
        func events() throws -> [(id: String?, response: JSONValue)] {
            connection.look()
            let text = String(decoding: connection.received, as: UTF8.self).replacing("\r\n", with: "\n")
            return try text.split(separator: "event: next\n").dropFirst().compactMap { event in
                guard let end = event.firstRange(of: "\n\n") else { return nil }
                let lines = event[..<end.lowerBound].split(separator: "\n")
                let id = lines.first { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
                let data = lines.first { $0.hasPrefix("data: ") }?.dropFirst(6) ?? ""
                return (id, try JSONParser.parse(String(data)))
            }
        }

        /// Waits for so many events and gives all that are there.
        func events(_ count: Int) async throws -> [(id: String?, response: JSONValue)] {
            try await eventually("\(count) events have come") {
                let events = try events()
                return events.count >= count ? events : nil
            }
        }
    }

    private func publish(_ titles: [String], _ scene: Scene) async throws -> [String] {
        let mutation = "mutation($i: CreateMessageInput!) { createMessage(input: $i) { cursor } }"
        var cursors: [String] = []
        for title in titles {
            let input: JSONValue = ["type": 1, "title": .string(title), "body": "b", "topicId": .string(scene.topicID)]
            let answer = try await scene.installation.curl(mutation, ["i": input], token: scene.ada)
            cursors.append(try #require(answer["data"]?["createMessage"]?["cursor"]?.stringValue))
        }
        return cursors
    }

    private func titles(_ events: [(id: String?, response: JSONValue)]) -> [String?] {
        events.map { $0.response["data"]?["onCreateMessage"]?["title"]?.stringValue }
    }

    @Test("after a kill of the server a stream goes on behind its last event, each message once and in order")
    func resumes() async throws {
        try await Installation.run { installation in
            let scene = try await Scene(installation)
            let cursors = try await publish(["1", "2", "3"], scene)
            func stream(_ lastEventID: String?) throws -> Stream {
                try Stream(
                    installation,
                    topic: scene.topicID,
                    after: cursors[0],
                    lastEventID: lastEventID,
                    token: scene.ada
                )
            }
            let before = try await stream(nil).events(2)
            #expect(titles(before) == ["2", "3"])
            #expect(before.map(\.id) == [cursors[1], cursors[2]])

            try await installation.killAndRestartServer()
            _ = try await publish(["4", "5"], scene)
            let again = try stream(before[0].id)
            #expect(titles(try await again.events(3)) == ["3", "4", "5"])
            let live = try await publish(["6"], scene)
            let events = try await again.events(4)
            #expect(titles(events) == ["3", "4", "5", "6"])
            #expect(events.last?.id == live[0])

            let forged = try stream(cursors[1] + "x")
            #expect(try await forged.events(1)[0].response.errorCode == "BAD_CURSOR")
            try await eventually("the stream is complete") {
                forged.connection.look()
                return String(decoding: forged.connection.received, as: UTF8.self).contains("event: complete")
            }
        }
    }
}
