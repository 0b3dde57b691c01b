import GraphQL
import Testing

@Suite("Grammar")
struct GrammarTests {
    @Test(
        "all of the September 2025 grammar reads, and prints to the same tree",
        arguments: [
            "\u{FEFF}{ a }", "{ a\u{FEFF} b }", "{ _ __a A9 on type query fragment true null }", "{ a, b,,c\t\r\n d }",
            "# only\r# comments\n{ a # end\n}", "{ a(b: 0, c: -0, d: 123456789012345678901234567890) }",
            "{ a(b: 1.5, c: -1.5e10, d: 1E+2, e: 0e-1, f: 0.0) }", "{ a(b: [], c: {}, d: [[1], {e: $f}], g: ENUM) }",
            #"{ a(b: "", c: "\u00E9\u{1F600}\uD83D\uDE00", d: "\"\\\/\b\f\n\r\t") }"#,
            "{ a(b: \"\"\"\"\"\", c: \"\"\"\n  x\n    y \\\"\"\" z\n  \"\"\", d: \"\"\"\"quoted\" \"\"\") }",
            "\"d\" query Q(\"e\" $a: [Int!]! = [1] @f(g: 1), $b: B) @h(i: $a) { j @k(l: $b) }",
            "\"\"\"d\"\"\" fragment F on T @a(b: $c) { d }", "\"d\" subscription { a }", "mutation M { a: b { c } }",
            "{ ... { a } ... on T { a } ... @b { a } ... on T @b { a } ...F @b ...onT }",
            "directive @a(b: C = 1 @d) repeatable on | FIELD | QUERY", "directive @a on VARIABLE_DEFINITION",
            "interface A implements & B & C @d { e: F }", "interface A implements B", "type A implements B & C",
            "extend schema @a { query: B }", "extend schema @a", "extend scalar A @b", "extend type A implements B",
            "extend interface A implements B", "extend interface A { b: C }", "extend union A = | B | C",
            "extend union A @b", "extend enum A { B @c }", "extend input A { b: C = {d: [1]} @e }", "extend input A @b",
            "\"d\" schema @a { query: B mutation: C subscription: D }", "\"d\" scalar A @specifiedBy(url: \"u\")",
            "union A", "enum A", "input A", "type A", "enum A { \"d\" B C }", "input A @oneOf { \"d\" b: [C]! = null }",
            "type A { \"d\" b(\"e\" c: D = E, f: G): [[H!]!]! @i }",
        ]
    )
    func everything(text: String) throws {
        let printed = printDocument(try parse(text, limits: .unlimited))
        #expect(printDocument(try parse(printed, limits: .unlimited)) == printed)
        #expect(try tree(text) == tree(printed))
    }

    /// The tree without its locations.
    private func tree(_ text: String) throws -> String {
        let bytes = try syntaxTree(of: Array(text.utf8), limits: .unlimited)
        return String(decoding: bytes, as: UTF8.self)
            .replacing(/,"loc":\{"start":\d+,"end":\d+\}/, with: "").replacing(/"block":(true|false)/, with: "")
    }

    @Test(
        "what is nearly the grammar is refused",
        arguments: [
            "{ a(b: 00) }", "{ a(b: 1.e1) }", "{ a(b: .5) }", "{ a(b: 1e) }", "{ a(b: 1_0) }", "{ a(b: 0xF) }",
            "{ a(b: +1) }", "{ a-b }", "{ é }", "{ a(b: \"\\u{}\") }", "{ a(b: \"\\u{D800}\") }",
            "{ a(b: \"\\uDE00\") }",
            "{ a(b: \"\\uD83D\\u0041\") }", "{ a(b: \"\\u{000000041}\") }", "{ a(b: \"\\u00G0\") }", "{ a(b: \"\n\") }",
            "{ a(b: \"\"\"\\\"\"\") }", "{ a() }", "{ a { } }", "query Q() { a }", "query Q($a) { a }",
            "query Q($a: ) { a }",
            "query ($a: Int! !) { a }", "{ a(b: $) }", "{ .. a }", "{ ....a }", "fragment F { a }",
            "fragment F on { a }",
            "\"d\" { a }", "\"d\" \"e\" query { a }", "extend type A", "extend scalar A", "extend schema",
            "extend fragment",
            "extend directive @a on FIELD", "directive @a", "directive @a on", "directive @a on FIELD |", "union A =",
            "union A = B |", "type A implements", "type A implements B &", "type A { }", "enum A { null }",
            "schema { }",
            "schema { quer: A }", "schema { query A }", "interface A { b }", "input A { b: }", "{ a } }",
            "type A { b: C",
            "{ a @ b }}", "{ a: }", "{ a(b) }", "{ a(: 1) }", "query Q($a: [Int) { a }",
        ]
    )
    func nearly(text: String) {
        #expect(throws: SyntaxError.self) { try parse(text, limits: .unlimited) }
    }

    @Test("names and digits of every length end where they end", arguments: 1...35)
    func lengths(length: Int) throws {
        let name = String("a_Z09bcdefghijklmnopqrstuvwxyzABCDEFGHIJ".prefix(length))
        let document = try parse(
            "{\(name)\(String(repeating: " ", count: length)),\(name)x(a:\(String(repeating: "1", count: length)))}"
        )
        #expect(printDocument(document) == "{\n  \(name)\n  \(name)x(a: \(String(repeating: "1", count: length)))\n}")
    }

    @Test("a document of fifty million bytes is refused with a location, and one of a million blanks at its end")
    func huge() throws {
        let source = [UInt8](repeating: UInt8(ascii: " "), count: 50_000_001)
        let error = #expect(throws: SyntaxError.self) { try parse(source, limits: .unlimited) }
        #expect(error?.message.contains("more than the 50000000 accepted") == true)
        let blank = [UInt8](repeating: UInt8(ascii: " "), count: 1_000_000)
        let empty = #expect(throws: SyntaxError.self) { try parse(blank, limits: .unlimited) }
        #expect(empty?.message == "Syntax Error: Unexpected <EOF>.")
        #expect(empty?.locations == [GraphQL.SourceLocation(line: 1, column: 1_000_001)])
        let brackets = Array("{ a(b: ".utf8) + [UInt8](repeating: UInt8(ascii: "["), count: 10_000_000)
        #expect(throws: SyntaxError.self) { try parse(brackets, limits: .unlimited) }
    }

    @Test("locations after characters of all lengths are counted in UTF-16, far into the line, too")
    func locations() throws {
        let schema = try Schema(sdl: "type Query { a(b: String): Int }")
        let text = "{ a(b: \"" + String(repeating: "é😀", count: 100) + "\")\r\n c # é\r d\n e }"
        let errors = validate(try parse(text), against: schema)
        #expect(errors.flatMap(\.locations).map { [$0.line, $0.column] } == [[2, 2], [3, 2], [4, 2]])
        let sameLine = "{ a(b: \"" + String(repeating: "é😀", count: 100) + "\") c }"
        #expect(validate(try parse(sameLine), against: schema).flatMap(\.locations).map(\.column) == [312])
    }
}
