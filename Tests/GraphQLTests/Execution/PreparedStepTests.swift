import GraphQL
import JSON
import Testing

@Suite("Plans in use")
struct PreparedStepTests {
    private static let sdl = "type Query { a: Int b: Int c: Int nested: Nested } type Nested { d: Int e: Int }"

    @Test("one plan serves requests that include different fields, in any order, again and again")
    func conditions() async throws {
        let service = try JSONService(Self.sdl)
        let names = (0..<5).map { "v\($0)" }
        let declarations = names.map { "$\($0): Boolean!" }.joined(separator: " ")
        let document = """
            query (\(declarations)) { a @include(if: $v0) b @skip(if: $v1) c @include(if: $v2)
                nested @include(if: $v3) { d e @skip(if: $v4) } z: a }
            """
        let plan = try PlanCache(schema: service.executable.schema).plan(text: document)
        for round in 0..<96 {
            let flags = (0..<5).map { (round * 7) >> $0 & 1 == 1 }
            let variables = JSONObject(zip(names, flags).map { ($0, .bool($1)) })
            let result = await service.executable.execute(
                plan,
                variables: variables,
                root: ["a": 1, "b": 2, "c": 3, "nested": ["d": 4, "e": 5]],
                context: CallLog()
            )
            var members: [String] = []
            if flags[0] { members.append(#""a":1"#) }
            if !flags[1] { members.append(#""b":2"#) }
            if flags[2] { members.append(#""c":3"#) }
            if flags[3] { members.append(flags[4] ? #""nested":{"d":4}"# : #""nested":{"d":4,"e":5}"#) }
            members.append(#""z":1"#)
            #expect(
                String(decoding: result.bytes, as: UTF8.self) == "{\"data\":{\(members.joined(separator: ","))}}"
            )
        }
    }

    @Test("two executable schemas of one schema share a plan without sharing resolvers")
    func sharedPlan() async throws {
        let schema = try Schema(sdl: "type Query { a: Int }")
        let executables = try [1, 2].map { number in
            var resolvers = ResolverMap<Int, Int>()
            resolvers.leaf("Query.a") { parent, out in out.int(parent * number) }
            return try ExecutableSchema(schema: schema, resolvers: resolvers)
        }
        let plan = try PlanCache(schema: schema).plan(text: "{ a }")
        for index in [0, 1, 1, 0, 1] {
            let result = await executables[index].execute(plan, root: 10, context: 0)
            #expect(String(decoding: result.bytes, as: UTF8.self) == "{\"data\":{\"a\":\((index + 1) * 10)}}")
        }
    }

    @Test("long response names and escapes in them are written whole")
    func names() async throws {
        let service = try JSONService(Self.sdl)
        let names = [1, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31, 100].map { String(repeating: "n", count: $0) }
        let response = try await service.run(
            "{ \(names.map { "\($0): a" }.joined(separator: " ")) }",
            root: ["a": 1]
        )
        #expect(response == "{\"data\":{\(names.map { "\"\($0)\":1" }.joined(separator: ","))}}")
    }

    @Test("requests of one plan may run at the same time")
    func parallel() async throws {
        let service = try JSONService(Self.sdl)
        let plan = try PlanCache(schema: service.executable.schema).plan(text: "{ nested { d e } a }")
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let root: JSONValue = ["a": .int(Int64(number)), "nested": ["d": 1, "e": .int(Int64(-number))]]
                    let result = await service.executable.execute(plan, root: root, context: CallLog())
                    let text = String(decoding: result.bytes, as: UTF8.self)
                    return text == "{\"data\":{\"nested\":{\"d\":1,\"e\":\(-number)},\"a\":\(number)}}"
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
