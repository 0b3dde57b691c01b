import JSON
import Testing
import TocsinCore
import TocsinPush

@Suite("Priorities")
struct UrgencyTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var priority: Int64
        var push = "{}"
        var mayBeCritical = false
        /// `apns-priority interruption-level sound`, where `-` stands for nothing.
        var apple: String
        /// `priority notification_priority sound`.
        var android: String
        var testDescription: String { "\(priority) \(push) \(mayBeCritical)" }
    }

    static let rows = [
        Row(priority: 1, apple: "5 passive -", android: "normal PRIORITY_MIN -"),
        Row(priority: 2, apple: "5 passive -", android: "normal PRIORITY_LOW -"),
        Row(priority: 3, apple: "10 active default", android: "high PRIORITY_DEFAULT default"),
        Row(priority: 4, apple: "10 time-sensitive default", android: "high PRIORITY_HIGH default"),
        Row(priority: 5, apple: "10 time-sensitive default", android: "high PRIORITY_MAX default"),
        Row(
            priority: 5,
            mayBeCritical: true,
            apple: "10 critical {\"critical\":1,\"name\":\"default\",\"volume\":1.0}",
            android: "high PRIORITY_MAX default"
        ),
        Row(
            priority: 3,
            push: "{\"interruptionLevel\":\"critical\",\"sound\":\"siren\",\"volume\":0.25}",
            mayBeCritical: true,
            apple: "10 critical {\"critical\":1,\"name\":\"siren\",\"volume\":0.25}",
            android: "high PRIORITY_DEFAULT siren"
        ),
        Row(
            priority: 3,
            push: "{\"interruptionLevel\":\"critical\"}",
            apple: "10 time-sensitive default",
            android: "high PRIORITY_DEFAULT default"
        ),
        Row(
            priority: 5,
            push: "{\"interruptionLevel\":\"passive\",\"sound\":\"none\"}",
            mayBeCritical: true,
            apple: "10 passive -",
            android: "high PRIORITY_MAX -"
        ),
        Row(priority: 1, push: "{\"sound\":\"chime\"}", apple: "5 passive chime", android: "normal PRIORITY_MIN chime"),
    ]

    @Test("a priority becomes both providers' words, and critical only with leave", arguments: rows)
    func mapping(_ row: Row) async throws {
        let payload = PushPayload(
            message: TestModels().message("m1", ["priority": .int(row.priority), "push": .json(row.push)]),
            topic: nil
        )
        let providers = TestProviders(mayBeCritical: row.mayBeCritical)
        _ = await providers.apns.results(payload, to: ["abcd"])
        _ = await providers.fcm.results(payload, to: ["abcd"])
        let (apple, android) = (
            try #require(providers.transport.sent.first), try #require(providers.transport.sent.last)
        )

        let aps = try JSONParser.parse(apple.request.body)["aps"]
        let sound = aps?["sound"]
        let shownSound = sound.map { $0.stringValue ?? $0.serializedString() } ?? "-"
        let level = aps?["interruption-level"]?.stringValue ?? "-"
        #expect("\(apple.header("apns-priority") ?? "-") \(level) \(shownSound)" == row.apple)

        let message = try JSONParser.parse(android.request.body)["message"]?["android"]
        let shown = message?["notification"]
        let words = [
            message?["priority"]?.stringValue, shown?["notification_priority"]?.stringValue,
            shown?["sound"]?.stringValue,
        ]
        #expect(words.map { $0 ?? "-" }.joined(separator: " ") == row.android)
    }
}

@Suite("What replaces what on the screen")
struct CollapseTests {
    private func key(_ id: String, _ fields: [String: FieldValue] = [:]) -> String {
        PushPayload(message: TestModels().message(id, fields), topic: nil).collapseKey
    }

    @Test("messages of one key in one topic share it, and nothing else does")
    func shared() {
        let first = key("m1", ["key": .text("disk")])
        #expect(first == key("m2", ["key": .text("disk")]))
        #expect(first != key("m2", ["key": .text("cpu")]))
        #expect(first != key("m2", ["key": .text("disk"), "topicId": .text("topic-2")]))
        #expect(key("m1") != key("m2"))
        #expect(key("m1", ["key": .text("disk"), "push": .json("{\"collapse\":false}")]) == "m1")
    }

    @Test("it fits a header: at most 64 bytes of printable ASCII", arguments: ["k", "é漢🙂", " ", "a\u{1}b"])
    func header(_ unit: String) {
        for text in [unit, String(repeating: unit, count: 200)] {
            for key in [key("m1", ["key": .text(text)]), key(text)] {
                #expect(key.utf8.count <= 64 && key.utf8.allSatisfy { (0x21...0x7E).contains($0) })
            }
        }
    }
}
