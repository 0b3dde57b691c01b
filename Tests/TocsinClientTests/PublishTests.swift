import JSON
import Testing
import TocsinClient

@Suite("Publishing", .timeLimit(.minutes(5)))
struct PublishTests {
    @Test("the answer names the stored message")
    func publishes() async throws {
        try await FakeServer.run { server in
            let client = try server.makeClient()
            let message = try await client.publish(topic: "alerts", title: "Disk full")
            #expect(message.number == 1)
            #expect(message.cursor == FakeTopic.cursor(1))
            #expect(server.topic.stored.map(\.title) == ["Disk full"])
            #expect(
                message.id.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil
            )
        }
    }

    @Test("an attempt whose answer was lost is repeated with the same id")
    func repeatsWithSameID() async throws {
        try await FakeServer.run { server in
            server.topic.refuseNextCreates(2)
            let message = try await server.makeClient().publish(topic: "alerts", title: "Disk full")
            #expect(server.topic.creates == 3)
            #expect(server.topic.stored.map(\.id) == [message.id])
        }
    }

    @Test("attempts end at last")
    func givesUp() async throws {
        try await FakeServer.run { server in
            server.topic.refuseNextCreates(100)
            let client = try server.makeClient()
            let error = await #expect(throws: ClientError.self) {
                try await client.publish(topic: "alerts", title: "Disk full")
            }
            #expect(error?.code == .unavailable)
            #expect(server.topic.creates == ClientSettings().maximumAttempts)
        }
    }

    @Test("a mutation that may not be repeated is sent once")
    func mutatesOnce() async throws {
        try await FakeServer.run { server in
            server.topic.refuseNextCreates(1)
            let client = try server.makeClient()
            await #expect(throws: ClientError.self) {
                try await client.mutate(
                    "mutation Publish($input: CreateMessageInput!) { createMessage(input: $input) { id } }",
                    variables: ["input": ["id": "x", "title": "once"]]
                )
            }
            #expect(server.topic.creates == 1)
        }
    }

    @Test("a kept connection that the server closed meanwhile does no harm")
    func survivesRestart() async throws {
        try await FakeServer.run { server in
            let client = try server.makeClient()
            _ = try await client.publish(topic: "alerts", title: "one")
            await server.stop()
            try await server.start()
            _ = try await client.publish(topic: "alerts", title: "two")
            #expect(server.topic.stored.map(\.title) == ["one", "two"])
        }
    }

    @Test("many may publish at once")
    func concurrently() async throws {
        try await FakeServer.run { server in
            let client = try server.makeClient()
            try await withThrowingTaskGroup { group in
                for number in 1...20 {
                    group.addTask { _ = try await client.publish(topic: "alerts", title: "\(number)") }
                }
                try await group.waitForAll()
            }
            #expect(Set(server.topic.stored.map(\.title)) == Set((1...20).map { "\($0)" }))
        }
    }

    @Test("a topic that is not there is named")
    func unknownTopic() async throws {
        try await FakeServer.run { server in
            let client = try server.makeClient()
            let error = await #expect(throws: ClientError.self) {
                try await client.publish(topic: "nowhere", title: "lost")
            }
            #expect(error?.code == .topicNotFound)
            #expect(error?.message.contains("nowhere") == true)
        }
    }

    @Test("a token that is not accepted is refused without repeating")
    func badToken() async throws {
        try await FakeServer.run { server in
            let client = try server.makeClient(token: "bad")
            let error = await #expect(throws: ClientError.self) {
                try await client.publish(topic: .id("t1"), title: "refused")
            }
            #expect(error?.code == .unauthenticated)
            #expect(server.topic.creates == 0)
        }
    }

    @Test("a server that is not there is named")
    func noServer() async throws {
        var settings = ClientSettings()
        settings.maximumAttempts = 2
        settings.requestPauses = Backoff(first: .milliseconds(1), longest: .milliseconds(1))
        // Nobody listens on port 1 of loopback.
        let client = try TocsinClient(url: "http://127.0.0.1:1", token: "t", settings: settings)
        let error = await #expect(throws: ClientError.self) { try await client.query("{ __typename }") }
        #expect(error?.code == .connectionFailed)
        #expect(error?.message.contains("127.0.0.1:1") == true)
    }
}

@Suite("A client's settings")
struct ClientSettingsTests {
    @Test(
        "an address that is none is refused with what is wrong",
        arguments: [
            ("127.0.0.1:8080", "begin with http"), ("ftp://host", "begin with http"), ("http://", "names no host"),
            ("http://host:99999", "1 to 65535"), ("http://host:", "1 to 65535"), ("https://a@b", "credentials"),
            ("http://host/graphql?x=1", "parameters"), ("http://ho st", "names no host"),
        ]
    )
    func badAddresses(url: String, reason: String) {
        let error = #expect(throws: ClientError.self) { try TocsinClient(url: url, token: nil) }
        #expect(error?.code == .badAddress)
        #expect(error?.message.contains(reason) == true)
    }

    @Test(
        "an address may name a port, a path, or an IPv6 host",
        arguments: ["http://localhost", "HTTPS://host:8443/", "http://[::1]:8080", "https://host/api/graphql"]
    )
    func goodAddresses(url: String) throws {
        _ = try TocsinClient(url: url, token: "token")
    }

    @Test(
        "plain text goes to this machine alone, unless the settings allow more",
        arguments: ["http://host", "http://10.0.0.1:80"]
    )
    func plainText(url: String) throws {
        let error = #expect(throws: ClientError.self) { try TocsinClient(url: url, token: "token") }
        #expect(error?.code == .badAddress && error?.message.contains("allowsPlainText") == true)
        var settings = ClientSettings()
        settings.allowsPlainText = true
        _ = try TocsinClient(url: url, token: "token", settings: settings)
        _ = try TocsinClient(url: "http://127.9.9.9", token: "token")
    }

    @Test("a token that would break a header is refused")
    func oddTokens() {
        for token in ["", "a b", "a\r\nHost: b", "ä"] {
            #expect(throws: ClientError.self) { try TocsinClient(url: "https://host", token: token) }
        }
    }

    @Test(
        "pauses are a random part, from nothing up, of a time that doubles up to the longest",
        arguments: [
            (1, 1.0, 200), (2, 1.0, 400), (3, 1.0, 800), (9, 1.0, 1000), (500, 1.0, 1000), (1, 0.0, 0), (3, 0.5, 400),
        ]
    )
    func pauses(failures: Int, random: Double, milliseconds: Int) {
        let backoff = Backoff(first: .milliseconds(100), longest: .seconds(1))
        #expect(backoff.pause(afterFailures: failures, random: random) == .milliseconds(milliseconds))
    }
}
