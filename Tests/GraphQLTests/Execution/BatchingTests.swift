import GraphQL
import JSON
import Testing

@Suite("Batching")
struct BatchingTests {
    static let sdl = """
        type Query { topics: [Topic!]!, one: Topic }
        type Topic { name: String!, owner: Person, messages(limit: Int = 2): [Message!]! }
        type Message { text: String!, author: Person }
        type Person { name: String! }
        type Mutation { first: Topic, second: Topic }
        """

    private static func service() throws -> JSONService {
        try JSONService(sdl) { resolvers in
            for coordinate in ["Topic.messages", "Message.author", "Topic.owner", "Mutation.first", "Mutation.second"] {
                resolvers.batch(coordinate) { (parents, field) throws(GraphQLError) in
                    field.context.add("\(coordinate) x\(parents.count) \(field.selection.names)")
                    var values: [ResolvedValue<JSONValue>] = []
                    for parent in parents { values.append(try JSONService.resolved(parent[field.fieldName] ?? .null)) }
                    return values
                }
            }
            resolvers.leaf("Person.name") { parent, out in out.string(parent["name"]?.stringValue) }
            resolvers.leaf("Topic.name") { parent, out in out.string(parent["name"]?.stringValue) }
        }
    }

    @Test("a field of many parents is resolved once a level, whatever list they stand in")
    func oncePerLevel() async throws {
        let log = CallLog()
        let ann: JSONValue = ["name": "Ann"]
        let root: JSONValue = [
            "topics": [
                [
                    "name": "a", "owner": ann,
                    "messages": [["text": "1", "author": ann], ["text": "2", "author": nil]],
                ],
                ["name": "b", "owner": ann, "messages": [["text": "3", "author": ann]]],
                ["name": "c", "owner": nil, "messages": []],
            ]
        ]
        let response = try await Self.service().run(
            "{ topics { name owner { name } messages { text author { name } } } }",
            root: root,
            log: log
        )
        #expect(
            log.entries == [
                #"Topic.owner x3 ["name"]"#, #"Topic.messages x3 ["text", "author"]"#,
                #"Message.author x3 ["name"]"#,
            ]
        )
        #expect(
            response
                == #"{"data":{"topics":[{"name":"a","owner":{"name":"Ann"},"messages":[{"text":"1","author":{"name":"Ann"}},{"text":"2","author":null}]},{"name":"b","owner":{"name":"Ann"},"messages":[{"text":"3","author":{"name":"Ann"}}]},{"name":"c","owner":null,"messages":[]}]}}"#
        )
    }

    @Test("root fields of a mutation run one after the other, each with all below it")
    func serialMutations() async throws {
        let log = CallLog()
        let topic: JSONValue = ["name": "t", "messages": [["text": "1"]]]
        _ = try await Self.service().run(
            "mutation { second { messages { text } } first { name messages { text } } }",
            root: ["first": topic, "second": topic],
            log: log
        )
        #expect(
            log.entries == [
                #"Mutation.second x1 ["messages"]"#, #"Topic.messages x1 ["text"]"#,
                #"Mutation.first x1 ["name", "messages"]"#, #"Topic.messages x1 ["text"]"#,
            ]
        )
    }

    @Test("an error thrown for a level, or a wrong number of values, fails every parent")
    func failingLevel() async throws {
        let service = try JSONService(Self.sdl) { resolvers in
            resolvers.batch("Topic.owner") { (_, _) throws(GraphQLError) in
                throw GraphQLError("down", extensions: ["code": "INTERNAL"])
            }
            resolvers.batch("Topic.messages") { _, _ in [.null] }
        }
        let root: JSONValue = ["topics": [["name": "a"], ["name": "b"]]]
        #expect(
            try await service.run("{ topics { owner { name } } }", root: root)
                == #"{"data":{"topics":[{"owner":null},{"owner":null}]},"errors":[{"message":"down","locations":[{"line":1,"column":12}],"path":["topics",0,"owner"],"extensions":{"code":"INTERNAL"}},{"message":"down","locations":[{"line":1,"column":12}],"path":["topics",1,"owner"],"extensions":{"code":"INTERNAL"}}]}"#
        )
        let response = try await service.run("{ topics { messages { text } } }", root: root)
        #expect(response.contains("The resolver of Topic.messages gave 1 values for 2 parents."))
    }

    @Test("a cancelled request is answered with an error, not with half its data")
    func cancellation() async throws {
        let service = try Self.service()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await service.run("{ one { name } }", root: ["one": ["name": "a"]])
        }
        #expect(try await task.value == #"{"errors":[{"message":"The request was cancelled."}]}"#)
    }

    @Test("schema and resolvers that do not fit are refused by coordinate")
    func binding() throws {
        let schema = try Schema(sdl: Self.sdl)
        var resolvers = ResolverMap<JSONValue, Int>()
        resolvers.leaf("Topic.owner") { _, out in out.null() }
        resolvers.value("Topic.nothing") { _, _ in .null }
        for coordinate in ["Query.topics", "Query.one", "Mutation.first", "Topic.messages", "Message.text"] {
            resolvers.value(coordinate) { _, _ in .null }
        }
        let errors = #expect(throws: SchemaBindingErrors.self) {
            try ExecutableSchema(schema: schema, resolvers: resolvers)
        }
        #expect(
            errors?.problems.sorted() == [
                "Message.author has no resolver.", "Mutation.second has no resolver.", "Person.name has no resolver.",
                "Topic.name has no resolver.",
                "Topic.nothing has a resolver, but the schema has no such field.",
                "Topic.owner is no leaf; register its resolver with value or batch.",
            ]
        )
    }
}
