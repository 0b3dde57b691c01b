import GraphQL
import JSON
import Synchronization
import Testing

@Suite("Root fields")
struct RootFieldTests {
    private static let sdl = """
        type Query { left: Int right: Int node: Node later: Node }
        type Mutation { left: Int right: Int }
        type Node { value: Int }
        """

    /// Each field waits, for a bounded number of turns, until the other has begun,
    /// and gives whether it has.
    private static func service(_ type: String) throws -> JSONService {
        let begun = Mutex<Set<String>>([])
        return try JSONService(sdl) { resolvers in
            for name in ["left", "right"] {
                resolvers.batch("\(type).\(name)") { (_, field) throws(GraphQLError) in
                    begun.withLock { _ = $0.insert(name) }
                    for _ in 0..<20_000 {
                        if begun.withLock({ $0.count }) == 2 { return [.leaf(1)] }
                        await Task.yield()
                    }
                    return [.leaf(0)]
                }
            }
        }
    }

    @Test("those of a query that wait run at the same time")
    func query() async throws {
        #expect(try await Self.service("Query").run("{ left right }") == #"{"data":{"left":1,"right":1}}"#)
    }

    @Test("those of a mutation run one after the other")
    func mutation() async throws {
        let response = try await Self.service("Mutation").run("mutation { left right }")
        #expect(response == #"{"data":{"left":0,"right":1}}"#)
    }

    @Test("errors of those that run at the same time stand in their own positions, in the order of the response")
    func errors() async throws {
        let service = try JSONService(Self.sdl) { resolvers in
            for name in ["left", "right"] {
                resolvers.batch("Query.\(name)") { (_, _) throws(GraphQLError) in throw GraphQLError("no \(name)") }
            }
            resolvers.batch("Query.node") { _, _ in [.object(["value": 2])] }
            resolvers.batch("Query.later") { _, _ in [.object(["value": 3])] }
        }
        let response = try await service.run("{ later { value } left node { value } right }")
        #expect(
            response
                == #"{"data":{"later":{"value":3},"left":null,"node":{"value":2},"right":null},"errors":[{"message":"no left","locations":[{"line":1,"column":19}],"path":["left"]},{"message":"no right","locations":[{"line":1,"column":39}],"path":["right"]}]}"#
        )
    }

    @Test("a request whose time is over ends with an error between two levels")
    func time() async throws {
        let service = try JSONService(Self.sdl)
        let plan = try PlanCache(schema: service.executable.schema).plan(text: "{ node { value } }")
        let levels = Mutex(0)
        var options = ExecutionOptions()
        options.hasTimeLeft = {
            levels.withLock {
                $0 += 1; return $0 < 2
            }
        }
        let result = await service.executable.execute(
            plan,
            root: ["node": ["value": 1]],
            context: CallLog(),
            options: options
        )
        #expect(
            String(decoding: result.bytes, as: UTF8.self)
                == #"{"errors":[{"message":"The request took too long; ask for less at once."}]}"#
        )
        #expect(result.requestErrors != nil)
    }

    @Test("cancelling a request reaches the resolvers that wait")
    func cancellation() async throws {
        let service = try JSONService(Self.sdl) { resolvers in
            for name in ["left", "right"] {
                resolvers.batch("Query.\(name)") { (_, _) throws(GraphQLError) in
                    for _ in 0..<1_000_000 where !Task.isCancelled { await Task.yield() }
                    return [.leaf(Task.isCancelled ? 1 : 0)]
                }
            }
            resolvers.batch("Query.node") { (_, field) throws(GraphQLError) in
                field.context.add("begun")
                return [.object(["value": 2])]
            }
        }
        let log = CallLog()
        let task = Task { try await service.run("{ left right node { value } }", log: log) }
        while log.entries.isEmpty { await Task.yield() }
        task.cancel()
        #expect(try await task.value == #"{"errors":[{"message":"The request was cancelled."}]}"#)
    }

    @Test("those that are registered for the root give objects, lists, nulls and errors as others do")
    func roots() async throws {
        let service = try JSONService(
            "type Query { one: Node many: [Node] none: Node failing: Node leaf: Int odd: Int } type Node { value: Int }"
        ) { resolvers in
            resolvers.root("Query.one") { _ in .object(["value": 1]) }
            resolvers.root("Query.many") { _ in .objects([["value": 2], ["value": 3]]) }
            resolvers.root("Query.none") { _ in .null }
            resolvers.root("Query.failing") { (_) throws(GraphQLError) in throw GraphQLError("no") }
            resolvers.root("Query.leaf") { _ in .leaf(4) }
            resolvers.root("Query.odd") { _ in .object(["value": 5]) }
        }
        let fragment = "fragment F on Node { value }"
        #expect(
            try await service.run("{ a: one { ...F } b: one { ...F } many { ...F } none { ...F } leaf } " + fragment)
                == #"{"data":{"a":{"value":1},"b":{"value":1},"many":[{"value":2},{"value":3}],"none":null,"leaf":4}}"#
        )
        #expect(
            try await service.run("{ failing { value } }")
                == #"{"data":{"failing":null},"errors":[{"message":"no","locations":[{"line":1,"column":3}],"path":["failing"]}]}"#
        )
        #expect(try await service.run("{ odd }").contains("The resolver of Query.odd gave an object for a leaf."))
    }

    @Test("one that is registered for the root serves no other type")
    func rootElsewhere() async throws {
        let service = try JSONService("type Query { nodes: [Node] } type Node { value: Int }") { resolvers in
            resolvers.root("Node.value") { _ in .leaf(1) }
        }
        let response = try await service.run("{ nodes { value } }", root: ["nodes": [[:], [:]]])
        #expect(response.contains("The resolver of Node.value gave 1 values for 2 parents."))
    }
}
