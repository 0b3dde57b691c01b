import GraphQL
import JSON
import Testing

@Suite("Response streams")
struct ResponseStreamTests {
    private static let sdl = """
        type Query { a: Int }
        type Subscription { posted(topic: ID!): Message! count(from: Int = 1): Int unheard: Int }
        type Message { text: String! }
        """

    private static func service(_ find: @escaping ResolverMap<JSONValue, CallLog>.Source) throws -> JSONService {
        try JSONService(sdl) { resolvers in
            resolvers.source("Subscription.posted", find)
            resolvers.source("Subscription.count") { (_, field) throws(GraphQLError) in
                let (stream, continuation) = AsyncStream.makeStream(of: JSONValue.self)
                let first = field.arguments["from"]?.intValue ?? 0
                for number in first..<first + 3 { continuation.yield(["n": .int(number)]) }
                continuation.finish()
                return SourceStream(stream)
            }
            resolvers.leaf("Subscription.count") { event, out in out.int(event["n"]?.intValue) }
        }
    }

    private static func subscribe(
        _ service: JSONService,
        _ text: String,
        _ variables: JSONObject = [:]
    ) async throws -> ResponseStream {
        let plan = try PlanCache(schema: service.executable.schema).plan(text: text)
        return try await service.executable.subscribe(plan, variables: variables, root: [:], context: CallLog())
    }

    private static func text(_ result: ExecutionResult) -> String { String(decoding: result.bytes, as: UTF8.self) }

    @Test("each event gives a response, with its own errors, until the source ends")
    func events() async throws {
        let service = try Self.service { (_, field) throws(GraphQLError) in
            let (stream, continuation) = AsyncStream.makeStream(of: JSONValue.self)
            for text: JSONValue in ["a", nil, "c"] {
                continuation.yield(["text": text, "topic": field.arguments["topic"] ?? nil])
            }
            continuation.finish()
            return SourceStream(stream)
        }
        var responses: [String] = []
        let stream = try await Self.subscribe(
            service,
            "subscription ($t: ID!) { p: posted(topic: $t) { text } }",
            ["t": 1]
        )
        for try await result in stream { responses.append(Self.text(result)) }
        #expect(
            responses == [
                #"{"data":{"p":{"text":"a"}}}"#,
                #"{"data":null,"errors":[{"message":"Cannot return null for non-nullable field Message.text.","locations":[{"line":1,"column":49}],"path":["p","text"]}]}"#,
                #"{"data":{"p":{"text":"c"}}}"#,
            ]
        )
    }

    @Test("where the root field has a resolver, the event is its parent")
    func resolvedRoot() async throws {
        let service = try Self.service { _, _ in SourceStream { nil } }
        var responses: [String] = []
        let stream = try await Self.subscribe(service, "subscription { count(from: 5) }")
        for try await result in stream { responses.append(Self.text(result)) }
        #expect(responses == [5, 6, 7].map { #"{"data":{"count":\#($0)}}"# })
    }

    @Test("an error of the source ends the stream, after what came before it")
    func failingSource() async throws {
        let log = CallLog()
        let service = try Self.service { _, _ in
            SourceStream { () async throws(GraphQLError) in
                log.add("asked")
                if log.entries.count > 1 { throw GraphQLError("The line is dead.") }
                return ["text": "a"]
            }
        }
        var iterator = try await Self.subscribe(service, "subscription { posted(topic: 1) { text } }")
            .makeAsyncIterator()
        #expect(try await iterator.next().map(Self.text) == #"{"data":{"posted":{"text":"a"}}}"#)
        let error = await #expect(throws: GraphQLError.self) { try await iterator.next() }
        #expect(error?.message == "The line is dead.")
        #expect(try await iterator.next() == nil)
        #expect(log.entries.count == 2)
    }

    @Test("a source that cannot be made is refused with its location")
    func refusedSource() async throws {
        let service = try Self.service { (_, _) throws(GraphQLError) in throw GraphQLError("Not yours.") }
        let error = await #expect(throws: RequestErrors.self) {
            try await Self.subscribe(service, "subscription { p: posted(topic: 1) { text } }")
        }
        let expected = GraphQLError(
            "Not yours.",
            locations: [SourceLocation(line: 1, column: 16)],
            path: [.key("p")]
        )
        #expect(error?.errors == [expected])
        for (text, message) in [
            ("{ a }", "The operation is no subscription."),
            ("subscription { unheard }", "Subscription.unheard has no source of events; register one."),
            (
                "subscription ($t: ID!) { posted(topic: $t) { text } }",
                #"Variable "$t" of required type "ID!" was not provided."#
            ),
        ] {
            let error = await #expect(throws: RequestErrors.self) { try await Self.subscribe(service, text) }
            #expect(error?.errors.map(\.message) == [message])
        }
    }

    @Test("cancelling the task ends the stream, and the source with it")
    func cancellation() async throws {
        let (events, continuation) = AsyncStream.makeStream(of: JSONValue.self)
        let log = CallLog()
        continuation.onTermination = { _ in log.add("ended") }
        let service = try Self.service { _, _ in SourceStream(events) }
        let task = Task {
            var count = 0
            let stream = try await Self.subscribe(service, "subscription { posted(topic: 1) { text } }")
            for try await _ in stream {
                count += 1
                log.add("answered")
            }
            return count
        }
        continuation.yield(["text": "a"])
        while log.entries.isEmpty { await Task.yield() }
        task.cancel()
        #expect(try await task.value == 1)
        #expect(log.entries == ["answered", "ended"])
    }

    @Test("a source for a field that is no subscription is refused at start")
    func binding() {
        let errors = #expect(throws: SchemaBindingErrors.self) {
            try JSONService(Self.sdl) { resolvers in
                resolvers.source("Query.a") { _, _ in SourceStream { nil } }
            }
        }
        #expect(
            errors?.problems == ["Query.a has a source of events, but is no field of the subscription type."]
        )
    }
}
