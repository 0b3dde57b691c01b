import GraphQL
import JSON
import Testing

@Suite("Subscriptions")
struct SubscriptionTests {
    private static let sdl = """
        type Query { a: Int }
        type Subscription { posted(topic: ID!, kinds: [Kind!] = [TEXT]): Message }
        enum Kind { TEXT IMAGE }
        type Message { text: String! author: Person }
        type Person { name: String }
        """

    private static func plan(_ service: JSONService, _ text: String) throws -> ExecutionPlan {
        try PlanCache(schema: service.executable.schema).plan(text: text)
    }

    @Test("the source says what was asked for")
    func source() throws {
        let service = try JSONService(Self.sdl)
        let plan = try Self.plan(
            service,
            "subscription ($t: ID!) { p: posted(topic: $t) { text author { name } } }"
        )
        let source = try service.executable.subscription(plan, variables: ["t": 7])
        #expect(source.fieldName == "posted" && source.responseKey == "p")
        #expect(source.arguments.object == ["topic": "7", "kinds": ["TEXT"]])
        #expect(source.selection.names == ["text", "author"] && source.selection["author"]?.names == ["name"])
        let error = #expect(throws: RequestErrors.self) { try service.executable.subscription(plan) }
        #expect(error?.errors.map(\.message) == [#"Variable "$t" of required type "ID!" was not provided."#])
    }

    @Test("each event is answered as the value of the root field")
    func events() async throws {
        let service = try JSONService(Self.sdl)
        let plan = try Self.plan(service, "subscription { p: posted(topic: 1) { text author { name } } }")
        let events: [(JSONValue, String)] = [
            (["text": "hi", "author": ["name": "Ann"]], #"{"data":{"p":{"text":"hi","author":{"name":"Ann"}}}}"#),
            (
                [:],
                #"{"data":{"p":null},"errors":[{"message":"Cannot return null for non-nullable field Message.text.","locations":[{"line":1,"column":38}],"path":["p","text"]}]}"#
            ),
        ]
        for (event, expected) in events {
            let result = await service.executable.executeEvent(plan, event: event, context: CallLog())
            #expect(String(decoding: result.bytes, as: UTF8.self) == expected)
        }
    }

    @Test("errors can be written in another shape")
    func errorEncoding() async throws {
        let service = try JSONService(Self.sdl)
        let plan = try Self.plan(service, "subscription { posted(topic: 1) { text } }")
        let options = ExecutionOptions { error, out in out.value(["errorType": "X", "message": .string(error.message)])
        }
        let result = await service.executable.executeEvent(plan, event: [:], context: CallLog(), options: options)
        #expect(
            String(decoding: result.bytes, as: UTF8.self)
                == #"{"data":{"posted":null},"errors":[{"errorType":"X","message":"Cannot return null for non-nullable field Message.text."}]}"#
        )
    }
}
