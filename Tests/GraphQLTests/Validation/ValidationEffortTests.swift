import GraphQL
import Testing

@Suite("Effort of validation")
struct ValidationEffortTests {
    @Test(
        "the values of a long list are checked without reading the document anew for each",
        .timeLimit(.minutes(5)),
        arguments: ["1.5 ", "\"a\" "]
    )
    func values(item: String) throws {
        let schema = try Schema(sdl: "type Query { f(a: [Float]): Int }")
        let text = "{ f(a: [" + String(repeating: item, count: 60_000) + "]) }"
        let document = try parse(text, limits: .unlimited)
        let errors = validate(document, against: schema, limits: .specification)
        // All fit, or all are wrong and the first hundred are told, with a last word on the rest.
        #expect(errors.count == (item == "1.5 " ? 0 : 101))
    }

    @Test("a huge argument is not read anew for each field it is compared with", .timeLimit(.minutes(5)))
    func arguments() throws {
        let schema = try Schema(sdl: "type Query { f(a: [Int], s: String): Int }")
        let lists =
            "f(a: [" + String(repeating: "1 ", count: 20_000) + "]) " + String(repeating: "f(a: [1]) ", count: 10_000)
        let texts =
            "f(s: \"" + String(repeating: "\\n", count: 50_000) + "\") "
            + String(repeating: "f(s: \"x\") ", count: 10_000)
        for fields in [lists, texts] {
            let document = try parse("{ \(fields) }", limits: .unlimited)
            #expect(validate(document, against: schema, limits: .specification).count == 101)
        }
    }

    @Test("arguments are the same in any order, their objects' fields too, and told apart by kind")
    func sameArguments() throws {
        let schema = try Schema(sdl: "type Query { f(a: Any, b: Any): Int } scalar Any")
        func conflicts(_ left: String, _ right: String) throws -> Bool {
            !validate(try parse("query ($v: Any) { f(\(left)) f(\(right)) u: f(a: $v) }"), against: schema).isEmpty
        }
        for (left, right) in [
            ("a: 1, b: 2", "b: 2, a: 1"), ("a: {x: 1, y: [2]}", "a: {y: [2], x: 1}"), ("a: $v", "a: $v"),
            (#"a: "\n""#, #"a: "\u000A""#), (#"a: """x""""#, #"a: "x""#),
        ] {
            #expect(try !conflicts(left, right), "\(left) | \(right)")
        }
        for (left, right) in [
            ("a: 1", "b: 1"), ("a: 1", "a: 1, b: null"), ("a: 1", "a: 1.0"), ("a: v", "a: $v"), (#"a: "1""#, "a: 1"),
            ("a: [1, 2]", "a: [2, 1]"), ("a: {x: 1}", "a: {x: 1, y: null}"), ("a: \"\u{E9}\"", "a: \"e\u{301}\""),
            (#"a: "v""#, "a: v"),
            ("a: [[1]]", "a: [1]"),
        ] {
            #expect(try conflicts(left, right), "\(left) | \(right)")
        }
    }
}
