import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

/// Buttons of messages whose call the server makes.
@Suite("Buttons that call", .timeLimit(.minutes(5)))
struct ButtonTests {
    private static let alice = APIHarness.identity("alice")
    private static let bob = APIHarness.identity("bob")
    private static let secretURL = "https://gate.example/open?key=urlSecret"

    /// Alice's topic with a way in that allows calls, and what is called.
    private struct Scene {
        let api: APIHarness
        let calls: FakeCalls
        let topic: String
        let integration: Integration

        init(
            _ calls: FakeCalls = FakeCalls(),
            _ api: APIHarness? = nil,
            topic name: String = "alerts",
            owner: Identity = ButtonTests.alice
        ) async throws {
            self.calls = calls
            if let api { self.api = api } else { self.api = try await APIHarness(calls: calls) }
            let api = self.api
            topic = try await api.makeTopic(name, as: owner)
            let now = api.time.now()
            let facts = [ButtonTests.alice, ButtonTests.bob].compactMap { UserFacts(of: $0, naming: [], at: now) }
            try await api.store.write { writer throws(StoreError) in for facts in facts { try writer.save(facts) } }
            let input: JSONObject = [
                "name": "gate", "kind": "NTFY", "topicId": .string(topic), "allowHttpActions": true,
            ]
            let made = try await api.run(
                "mutation($i: CreateIntegrationInput!) { createIntegration(input: $i) { id } }",
                ["i": .object(input)],
                as: owner
            )
            let id = try #require(made["data"]?["createIntegration"]?["id"]?.stringValue, "\(made)")
            var integration = Integration(
                id: id,
                owner: owner.owner,
                name: "gate",
                kind: .ntfy,
                topicID: TopicID(topic)
            )
            integration.allowsHTTPActions = true
            self.integration = integration
        }

        /// A message with the button; answers its id, or that of the message that waits.
        func publish(at due: Timestamp? = nil) async throws -> String {
            var event = SenderEvent(.log, title: "Somebody is at the gate")
            var button = SenderEvent.Button(id: "http1", title: "Open", url: nil)
            button.call = SenderEvent.Call(
                method: "PUT",
                url: ButtonTests.secretURL,
                headers: ["Authorization": "Bearer headerSecret", "X-A": "b:c"],
                body: "line one\n\nline two"
            )
            let link = SenderEvent.Button(id: "view2", title: "Look", url: "https://cam.example/1")
            (event.buttons, event.dueAt) = ([button, link], due)
            let intake = ButtonSealing(api.services.incidents, sealer: PlainSealer())
            let outcome = try await intake.take([event], from: integration).first
            return try #require(outcome?.messageID ?? outcome?.scheduledID)
        }

        func press(
            _ message: String,
            _ button: String = "http1",
            as caller: Identity = ButtonTests.alice
        ) async throws -> JSONValue {
            try await api.run(
                "mutation($m: ID!, $b: ID!) { pressButton(messageId: $m, id: $b) { isDone status problem } }",
                ["m": .string(message), "b": .string(button)],
                as: caller
            )
        }

        /// The buttons of a message, as who asks is shown them.
        func shown(_ message: String, as caller: Identity = ButtonTests.alice) async throws -> JSONValue {
            let fields = "id title url isCall mayPress press { isDone status problem }"
            return try await api.run(
                "query($m: ID!) { getMessage(id: $m) { buttons { \(fields) } } }",
                ["m": .string(message)],
                as: caller
            )
        }

        /// The button that calls, as it is shown.
        func call(_ message: String, as caller: Identity = ButtonTests.alice) async throws -> JSONValue? {
            let answer = try await shown(message, as: caller)
            return answer["data"]?["getMessage"]?["buttons"]?[0]
        }

        func change(_ input: JSONObject) async throws {
            let read = try await api.run(
                "query($id: ID!) { getIntegration(id: $id) { _version } }",
                ["id": .string(integration.id)]
            )
            var input = input
            input["id"] = .string(integration.id)
            input["_version"] = read["data"]?["getIntegration"]?["_version"] ?? .null
            let changed = try await api.run(
                "mutation($i: UpdateIntegrationInput!) { updateIntegration(input: $i) { id } }",
                ["i": .object(input)]
            )
            #expect(changed["errors"] == nil, "\(changed)")
        }
    }

    private func pressed(_ answer: JSONValue) -> JSONValue? { answer["data"]?["pressButton"] }

    private func code(_ answer: JSONValue) -> String? {
        answer["errors"]?[0]?["extensions"]?["code"]?.stringValue
    }

    @Test("a press makes the call as it was asked for, once; a repeat answers what came of it")
    func once() async throws {
        let scene = try await Scene()
        let message = try await scene.publish()
        let done: JSONValue = ["isDone": true, "status": 204, "problem": .null]
        for _ in 0..<3 { #expect(pressed(try await scene.press(message)) == done) }
        let requests = scene.calls.requests
        try #require(requests.count == 1)
        #expect(requests[0].method == "PUT" && requests[0].url == Self.secretURL)
        #expect(requests[0].body == Array("line one\n\nline two".utf8))
        let headers = requests[0].headers.filter { !$0.value.isEmpty }.map { "\($0.name): \($0.value)" }
        #expect(headers == ["Authorization: Bearer headerSecret", "X-A: b:c"])
        #expect(requests[0].addresses == .publicOnly)
        // A request that takes five seconds is told nothing of the call.
        #expect(requests[0].timeoutSeconds <= 4)
    }

    @Test("the audit says who pressed what, when and with what status, and neither address nor headers")
    func audited() async throws {
        let scene = try await Scene()
        let message = try await scene.publish()
        _ = try await scene.press(message)
        let rows = try await scene.api.store.read { reader throws(StoreError) in
            try reader.auditEvents(AuditQuery(limit: 2000))
        }.filter { $0.action == "button.press" }
        try #require(rows.count == 1)
        #expect(rows[0].actor == "sub-alice" && rows[0].subject == scene.topic && rows[0].outcome == "DONE")
        #expect(rows[0].detail == #"{"message":"\#(message)","button":"http1","status":204}"#)
    }

    @Test("who reads messages sees nothing of the call")
    func unseen() async throws {
        let scene = try await Scene()
        _ = try await scene.publish()
        let fields = "id title body url data category key owner typeName"
        let answer = try await scene.api.run("{ listMessages { items { \(fields) } } }").serializedString()
        #expect(answer.contains("at the gate"))
        for secret in ["urlSecret", "headerSecret", "gate.example", "http1", "calls"] {
            #expect(!answer.contains(secret), "\(answer)")
        }
    }

    @Test("who reads a message is shown its buttons, and nothing of what the server is to call")
    func listed() async throws {
        let scene = try await Scene()
        let answer = try await scene.shown(try await scene.publish())
        let buttons: JSONValue = [
            ["id": "http1", "title": "Open", "url": .null, "isCall": true, "mayPress": true, "press": .null],
            [
                "id": "view2", "title": "Look", "url": "https://cam.example/1", "isCall": false, "mayPress": false,
                "press": .null,
            ],
        ]
        #expect(answer["data"]?["getMessage"]?["buttons"] == buttons, "\(answer)")
        let text = answer.serializedString()
        for secret in ["urlSecret", "headerSecret", "gate.example", "line one"] { #expect(!text.contains(secret)) }
    }

    @Test("each person is shown what came of their own last press, and who asks for several messages those of each")
    func lastPress() async throws {
        let calls = FakeCalls([.failed(reason: "it did not answer in time")])
        let scene = try await Scene(calls)
        let (message, other, api) = (try await scene.publish(), try await scene.publish(), scene.api)
        let granted = try await api.run(
            "mutation { grantTopic(input: {topicId: \"\(scene.topic)\", user: \"sub-bob\", roles: [READER]}) { id } }"
        )
        #expect(granted["errors"] == nil, "\(granted)")
        _ = try await scene.press(message)
        let failed: JSONValue = ["isDone": false, "status": .null, "problem": "it did not answer in time"]
        #expect(try await scene.call(message)?["press"] == failed)
        #expect(try await scene.call(message)?["mayPress"] == true)
        #expect(try await scene.call(message, as: Self.bob)?["press"] == .null)
        #expect(try await scene.call(message, as: Self.bob)?["mayPress"] == true)
        _ = try await scene.press(message)
        _ = try await scene.press(other, as: Self.bob)
        let listed = try await api.run(
            "{ listMessages { items { id buttons(limit: 1) { id press { status } } } } }"
        )
        let items = try #require(listed["data"]?["listMessages"]?["items"]?.arrayValue, "\(listed)")
        let pressed = Dictionary(items.map { ($0["id"]?.stringValue ?? "", $0["buttons"] ?? .null) }) { first, _ in
            first
        }
        #expect(pressed[message] == [["id": "http1", "press": ["status": 204]]], "\(listed)")
        #expect(pressed[other] == [["id": "http1", "press": .null]], "\(listed)")
    }

    @Test("a button that is over, or that a token may not press, is shown as one that may not be pressed")
    func notPressable() async throws {
        let scene = try await Scene()
        let message = try await scene.publish()
        var reading = Self.alice
        reading.scope = .readOnly
        #expect(try await scene.call(message, as: reading)?["mayPress"] == false)
        _ = try await scene.press(message)
        try await scene.change(["allowHttpActions": false])
        #expect(try await scene.call(message)?["mayPress"] == false)
        #expect(try await scene.call(message)?["press"]?["status"] == 204, "what came of it is told all the same")
        try await scene.change(["allowHttpActions": true])
        #expect(try await scene.call(message)?["mayPress"] == true)
        scene.api.time.advance(seconds: 86_401)
        #expect(try await scene.call(message)?["mayPress"] == false)
        #expect(try await scene.call(message, as: Self.bob) == nil)
    }

    @Test("buttons that a publisher gives a message are shown, and never call")
    func published() async throws {
        let scene = try await Scene()
        let made = try await scene.api.run(
            "mutation($i: CreateMessageInput!) { createMessage(input: $i) { buttons { id url isCall mayPress } } }",
            [
                "i": [
                    "topicId": .string(scene.topic), "type": 0, "title": "t", "body": "b",
                    "push": ["actions": [["id": "http1", "title": "Open", "url": "https://a.example"]]],
                ]
            ]
        )
        let button: JSONValue = ["id": "http1", "url": "https://a.example", "isCall": false, "mayPress": false]
        #expect(made["data"]?["createMessage"]?["buttons"] == [button], "\(made)")
    }

    @Test("a press whose call has failed may be made again, until one succeeds")
    func again() async throws {
        let calls = FakeCalls(
            [
                .failed(reason: "it did not answer in time"), .response(status: 302, headers: [], body: []),
                .response(status: 500, headers: [], body: []), .response(status: 200, headers: [], body: []),
            ]
        )
        let scene = try await Scene(calls)
        let message = try await scene.publish()
        let first: JSONValue = ["isDone": false, "status": .null, "problem": "it did not answer in time"]
        #expect(pressed(try await scene.press(message)) == first)
        for (status, isDone) in [(302, false), (500, false), (200, true), (200, true)] as [(Int64, Bool)] {
            let expected: JSONValue = ["isDone": .bool(isDone), "status": .int(status), "problem": .null]
            #expect(pressed(try await scene.press(message)) == expected)
        }
        #expect(calls.requests.count == 4)
    }

    @Test("while a call is under way, a second press of it begins none")
    func underWay() async throws {
        let calls = FakeCalls(holds: true)
        let scene = try await Scene(calls)
        let message = try await scene.publish()
        async let first = scene.press(message)
        await calls.begun(1)
        let second: JSONValue = ["isDone": false, "status": .null, "problem": .null]
        #expect(pressed(try await scene.press(message)) == second)
        calls.release()
        #expect(pressed(try await first)?["isDone"] == true)
        #expect(calls.requests.count == 1)
    }

    @Test(
        "readers press for themselves; what is not theirs, was taken back or asks for more than a token may is refused"
    )
    func rights() async throws {
        let scene = try await Scene()
        let (message, api) = (try await scene.publish(), scene.api)
        let nothing = try await scene.press("no-such-message", as: Self.bob)
        #expect(code(nothing) == "UNAUTHORIZED")
        #expect(try await scene.press(message, as: Self.bob) == nothing)
        let grant =
            "mutation { grantTopic(input: {topicId: \"\(scene.topic)\", user: \"sub-bob\", roles: [READER]}) { id } }"
        let granted = try await api.run(grant)
        let id = try #require(granted["data"]?["grantTopic"]?["id"]?.stringValue, "\(granted)")
        #expect(pressed(try await scene.press(message, as: Self.bob))?["isDone"] == true)
        #expect(pressed(try await scene.press(message))?["isDone"] == true, "each person by themselves")
        #expect(scene.calls.requests.count == 2)
        var (reading, publishing) = (Self.bob, Self.alice)
        (reading.scope, publishing.scope) = (.readOnly, .publish(topic: scene.topic))
        for caller in [reading, publishing] {
            #expect(code(try await scene.press(message, as: caller)) == "UNAUTHORIZED")
        }
        let later = try await scene.publish()
        let revoked = try await api.run("mutation { revokeGrant(id: \"\(id)\") { id } }")
        #expect(revoked["errors"] == nil, "\(revoked)")
        #expect(try await scene.press(later, as: Self.bob) == nothing)
        #expect(scene.calls.requests.count == 2)
    }

    @Test(
        "a button is over where the integration allows no calls any more, or takes nothing",
        arguments: [["allowHttpActions": false], ["enabled": false]] as [JSONObject]
    )
    func switchedOff(change: JSONObject) async throws {
        let scene = try await Scene()
        let message = try await scene.publish()
        try await scene.change(change)
        #expect(code(try await scene.press(message)) == "UNAUTHORIZED")
        #expect(scene.calls.requests.isEmpty)
    }

    @Test("a button is over after a day, and there is none under any other name")
    func over() async throws {
        let scene = try await Scene()
        let message = try await scene.publish()
        for name in ["http2", "", "\"", "http1\":\"", "calls"] {
            #expect(code(try await scene.press(message, name)) == "UNAUTHORIZED", "\(name)")
        }
        scene.api.time.advance(seconds: 86_401)
        #expect(code(try await scene.press(message)) == "UNAUTHORIZED")
        #expect(scene.calls.requests.isEmpty)
    }

    @Test("a button is over a day after its message was made, also where the message was changed since")
    func changed() async throws {
        let calls = FakeCalls()
        let scene = try await Scene(calls, try await APIHarness(model: FeedScene.openModel, calls: calls))
        let message = try await scene.publish()
        scene.api.time.advance(seconds: 80_000)
        let changed = try await scene.api.run(
            "mutation($i: UpdateMessageInput!) { updateMessage(input: $i) { _version } }",
            ["i": ["id": .string(message), "title": "changed", "_version": 1]]
        )
        #expect(changed["data"]?["updateMessage"]?["_version"] == 2, "\(changed)")
        #expect(pressed(try await scene.press(message))?["isDone"] == true)
        scene.api.time.advance(seconds: 6_401)
        #expect(code(try await scene.press(message)) == "UNAUTHORIZED")
        #expect(calls.requests.count == 1)
    }

    @Test("a topic's calls are bounded in a minute, whoever presses what")
    func rate() async throws {
        let calls = FakeCalls(always: .response(status: 500, headers: [], body: []))
        let scene = try await Scene(calls)
        let message = try await scene.publish()
        for _ in 0..<ButtonService.callsPerMinute {
            #expect(pressed(try await scene.press(message))?["status"] == 500)
        }
        let refused = try await scene.press(message)
        #expect(pressed(refused)?.isNull != false && refused["errors"] != nil, "\(refused)")
        #expect(calls.requests.count == ButtonService.callsPerMinute)
        scene.api.time.advance(seconds: 61)
        #expect(pressed(try await scene.press(message))?["status"] == 500)
    }

    @Test("four calls of a topic are under way at once, and a fifth is refused")
    func atOnce() async throws {
        let calls = FakeCalls(holds: true)
        let scene = try await Scene(calls)
        var messages: [String] = []
        for _ in 0..<5 { messages.append(try await scene.publish()) }
        let (first, last) = (messages.prefix(4), messages[4])
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for message in first { group.addTask { try await scene.press(message) } }
            await calls.begun(4)
            #expect(try await scene.press(last)["errors"] != nil)
            calls.release()
            for try await answer in group { #expect(pressed(answer)?["isDone"] == true) }
        }
        #expect(pressed(try await scene.press(last))?["isDone"] == true)
    }

    @Test("one owner's calls are bounded over all topics, and another's are made beside them")
    func ofOwner() async throws {
        let calls = FakeCalls(holds: true)
        let api = try await APIHarness(calls: calls)
        let hers = try await Scene(calls, api)
        var messages: [String] = []
        for scene in [hers, try await Scene(calls, api, topic: "b"), try await Scene(calls, api, topic: "c")] {
            for _ in 0..<3 { messages.append(try await scene.publish()) }
        }
        let bobs = try await Scene(calls, api, topic: "bobs", owner: Self.bob)
        let (first, last, his) = (messages.prefix(8), messages[8], try await bobs.publish())
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for message in first { group.addTask { try await hers.press(message) } }
            await calls.begun(8)
            #expect(code(try await hers.press(last)) == "LIMIT")
            group.addTask { try await bobs.press(his, as: Self.bob) }
            await calls.begun(9)
            calls.release()
            for try await answer in group { #expect(pressed(answer)?["isDone"] == true) }
        }
    }

    @Test("a delayed message keeps its button, of which its owner reads nothing before")
    func delayed() async throws {
        let scene = try await Scene()
        _ = try await scene.publish(at: scene.api.time.now().adding(seconds: 60))
        let listed = try await scene.api.run("{ listScheduledMessages { items { id input } } }").serializedString()
        #expect(listed.contains("at the gate") && !listed.contains("calls"), "\(listed)")
        scene.api.time.advance(seconds: 61)
        let runner = TimerRunner(
            environment: scene.api.environment,
            effects: [ScheduledMessageEffect(scene.api.services.scheduledMessages) { _ in }]
        ) { Issue.record("\($0.subject): \($1)") }
        #expect(try await runner.fireDue() == 1)
        let found = try await scene.api.run("{ listMessages { items { id } } }")
        let id = try #require(found["data"]?["listMessages"]?["items"]?[0]?["id"]?.stringValue, "\(found)")
        #expect(pressed(try await scene.press(id))?["isDone"] == true)
        #expect(scene.calls.requests.map(\.url) == [Self.secretURL])
    }

    @Test("presses that are over are removed, and no others")
    func removed() async throws {
        let scene = try await Scene()
        let message = try await scene.publish()
        _ = try await scene.press(message)
        func isKept() async throws -> Bool {
            try await scene.api.store.read { reader throws(StoreError) in
                try reader.buttonPress("http1", of: MessageID(message), by: Self.alice.userID) != nil
            }
        }
        let now = scene.api.time.now()
        for (moment, removed, isLeft) in [(now.adding(seconds: -60), 0, true), (now, 1, false), (now, 0, false)] {
            let count = try await scene.api.store.write { writer throws(StoreError) in
                try writer.removeButtonPresses(before: moment, limit: 10)
            }
            #expect(count == removed)
            #expect(try await isKept() == isLeft)
        }
    }
}
