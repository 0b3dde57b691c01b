import JSON
import Testing
import TocsinAPI
import TocsinCore

@Suite("What a message may ask of its push")
struct PushInputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var input: JSONObject
        /// What the refusal names; nil: it is taken.
        var refusal: String?
        var testDescription: String { JSONValue.object(input).serializedString().prefix(80) + "" }
    }

    private static func push(_ push: JSONObject, _ refusal: String? = nil) -> Case {
        Case(input: ["push": .object(push)], refusal: refusal)
    }

    private static func data(_ text: String, _ refusal: String? = nil) -> Case {
        Case(input: ["data": .string(text)], refusal: refusal)
    }

    static let cases = [
        push(["subtitle": "on main", "image": "https://ci.example/1.png", "volume": 0.5, "relevanceScore": 1]),
        push(["actions": [["id": "A", "title": "Ack"], ["id": "B", "title": "Open", "url": "https://ci.example"]]]),
        push(["encrypted": true]),
        push(["image": "http://ci.example/1.png"], "push.image must be an https address"),
        push(["volume": 1.5], "push.volume must be from 0 to 1"),
        push(["relevanceScore": -0.1], "push.relevanceScore must be from 0 to 1"),
        push(["subtitle": .string(String(repeating: "x", count: 257))], "push.subtitle must be at most 256 bytes"),
        push(["interruptionLevel": "loud"], "push.interruptionLevel must be one of"),
        push(["actions": [["id": "A", "title": ""]]], "push.actions[0].title must not be empty"),
        push(["actions": [["id": "A", "title": "a"], ["id": "A", "title": "b"]]], "an id of its own"),
        push(
            ["actions": .array((0..<9).map { ["id": .string("\($0)"), "title": "t"] })],
            "push.actions has 9 entries"
        ),
        data("{\"asub\":\"x\",\"type\":\"1\",\"aps\":\"y\"}"),
        data("{\"from\":\"x\"}", "data has the key \"from\""),
        data("{\"message_type\":\"x\"}", "data has the key \"message_type\""),
        data("{\"google.c.a\":\"x\"}", "data has the key \"google.c.a\""),
        data("{\"gcmId\":\"x\"}", "data has the key \"gcmId\""),
        data("{\"\":\"x\"}", "data has the key \"\""),
        data("{\"n\":1}", "data must be JSON of an object whose values are all strings"),
        data("[]", "data must be JSON of an object"),
    ]

    @Test("is refused with a reason where a provider would refuse it later", arguments: cases)
    func check(_ example: Case) async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let answer = try await api.publish("t", to: topic, with: example.input)
        let message = answer["errors"]?[0]?["message"]?.stringValue
        if let refusal = example.refusal {
            #expect(message?.contains(refusal) == true, "\(answer)")
        } else {
            #expect(answer["number"] == 1, "\(answer)")
        }
    }

    @Test("ciphertext comes back as it was given, and no refusal repeats it")
    func ciphertext() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        let secret = "U2FsdGVkX1+\u{1F512}/=="
        let data = JSONValue.object(["secret": .string(secret), "asub": .string(secret)]).serializedString()
        let input: JSONObject = ["data": .string(data), "push": ["encrypted": true]]
        #expect(try await api.publish(secret, to: topic, with: input)["title"] == .string(secret))
        let stored = try await api.run("{ listMessages { items { title data } } }")
        let item = stored["data"]?["listMessages"]?["items"]?[0]
        #expect(item?["title"] == .string(secret))
        #expect(try JSONParser.parse(item?["data"]?.stringValue ?? "")["asub"] == .string(secret))
        let wrong: JSONObject = [
            "data": "{\"secret\":[\"\(secret)\"]}", "push": ["subtitle": .string(secret + "\u{1}")],
        ]
        let refused = try await api.publish(secret, to: topic, with: wrong)
        #expect(refused["errors"] != nil)
        #expect(!refused.serializedString().contains("U2Fs"), "\(refused)")
    }
}
