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
        #expect(try cache.plan(text: text, operationName: "A").operationKind == .query)
        #expect(try cache.plan(text: text, operationName: "B").operationKind == .mutation)
        #expect(try cache.plan(text: text, operationName: "A").operationName == "A")
        #expect(cache.count == 2)
    }

    @Test("a plan that is held is not made again, and equal texts from elsewhere find it")
    func hits() throws {
        let cache = try Self.cache()
        let first = try cache.plan(text: "{ a: field }")
        let second = try cache.plan(text: ["{ a:", "field }"].joined(separator: " "))
        #expect(first === second)
        #expect(cache.count == 1)
    }

    @Test("texts that differ only in how a character is composed are different documents")
    func bytes() throws {
        #expect(DocumentText("{ a(b: \"\u{e9}\") }") != DocumentText("{ a(b: \"e\u{301}\") }"))
        #expect(DocumentText("{ a(b: \"\u{e9}\") }") == DocumentText("{ a(b: \"\u{e9}\") }"))
        for count in 0..<40 {
            let text = String(repeating: "x", count: count)
            #expect(DocumentText(text + "a") == DocumentText(text + "a"))
            #expect(DocumentText(text + "a") != DocumentText(text + "b"))
        }
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
        #expect(few.count == 8 && small.count > 0)
        let none = try Self.cache(bytes: 10)
        _ = try none.plan(text: "{ field }")
        #expect(none.count == 0)
    }

    @Test("a plan whose fields depend on variables counts for what is kept of each choice")
    func conditionalBytes() throws {
        let cache = try Self.cache()
        let plain = try cache.plan(text: "{ a: field b: field }")
        let conditional = try cache.plan(
            text: "query ($a: Boolean!, $b: Boolean!) { a: field @include(if: $a) b: field @skip(if: $b) }"
        )
        #expect(conditional.estimatedBytes > plain.estimatedBytes)
    }

    @Test("the plan used least recently goes first")
    func order() throws {
        let cache = try Self.cache(entries: 3)
        let kept = try cache.plan(text: "{ kept: field }")
        for number in 0..<20 {
            _ = try cache.plan(text: "{ a\(number): field }")
            #expect(try cache.plan(text: "{ kept: field }") === kept)
        }
        for number in 0..<3 { _ = try cache.plan(text: "{ b\(number): field }") }
        #expect(try cache.plan(text: "{ kept: field }") !== kept)
    }

    @Test("a full cache costs no more for a miss than an empty one", .timeLimit(.minutes(5)))
    func eviction() throws {
        let queries = PersistedQueries(maximumEntries: 10_000, maximumBytes: .max, ownerParts: 1)
        for number in 0..<30_000 {
            let digest = try #require(DocumentDigest(hex: hexadecimal(number)))
            queries.store(DocumentText("\(number)"), digest: digest, owner: "o")
        }
        #expect(queries.count == 10_000)
    }
}

/// 64 hexadecimal digits.
func hexadecimal(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 64 - digits.utf8.count) + digits
}
