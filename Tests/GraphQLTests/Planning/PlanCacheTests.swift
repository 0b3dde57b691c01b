import GraphQL
import JSON
import Testing

@Suite("PlanCache")
struct PlanCacheTests {
    private static func cache(entries: Int = 10, bytes: Int = 1_000_000) throws -> PlanCache {
        PlanCache(schema: try Schema(sdl: petSchema), maximumEntries: entries, maximumBytes: bytes)
    }

    @Test("a request that is refused is refused by kind")
    func refusals() throws {
        let cache = try Self.cache()
        for (text, name, kind) in [
            ("{", nil, RequestErrors.Kind.syntax), ("{ nope }", nil, .validation),
            ("query A { field }", "B", .operation),
            ("query A { field } query B { field }", nil, .operation),
        ] {
            let error = #expect(throws: RequestErrors.self) { try cache.plan(text: text, operationName: name) }
            #expect(error?.kind == kind)
        }
        #expect(cache.count == 0)
    }

    @Test("operations of one document have plans of their own")
    func names() throws {
        let cache = try Self.cache()
        let text = "query A { x: field } mutation B { feed }"
        #expect(try cache.plan(text: text, operationName: "A").rootFields.map(\.responseKey) == ["x"])
        #expect(try cache.plan(text: text, operationName: "B").operationKind == .mutation)
        #expect(try cache.plan(text: text, operationName: "A").operationName == "A")
        #expect(cache.count == 2)
    }

    @Test("neither entries nor bytes grow past their bound")
    func bounds() throws {
        let few = try Self.cache(entries: 8)
        let small = try Self.cache(entries: 1000, bytes: 20_000)
        for number in 0..<100 {
            _ = try few.plan(text: "{ a\(number): field }")
            _ = try small.plan(text: "{ a\(number): field }")
            #expect(few.count <= 8 && small.count <= 20)
        }
        #expect(few.count > 0 && small.count > 0)
        _ = try Self.cache(bytes: 10).plan(text: "{ field }")
    }
}
