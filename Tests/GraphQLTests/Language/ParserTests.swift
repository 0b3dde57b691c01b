import GraphQL
import Testing

@Suite("Parser")
struct ParserTests {
    @Test(
        "what is no document is refused in graphql-js' words, with its location",
        arguments: [
            ("", "Syntax Error: Unexpected <EOF>.", 1, 1), ("{", "Syntax Error: Expected Name, found <EOF>.", 1, 2),
            ("{}", "Syntax Error: Expected Name, found \"}\".", 1, 2),
            ("{ a(b: ) }", "Syntax Error: Unexpected \")\".", 1, 8),
            ("notAnOperation Foo { field }", "Syntax Error: Unexpected Name \"notAnOperation\".", 1, 1),
            ("{ ...on }", "Syntax Error: Expected Name, found \"}\".", 1, 9),
            ("fragment on on on { on }", "Syntax Error: Unexpected Name \"on\".", 1, 10),
            ("{ field: {} }", "Syntax Error: Expected Name, found \"{\".", 1, 10),
            ("query ($a: Int = $b) { a }", "Syntax Error: Unexpected variable \"$b\" in constant value.", 1, 18),
            ("query ($a: Int = $) { a }", "Syntax Error: Unexpected \"$\".", 1, 18),
            ("type A { a(b: Int = $ 2): Int }", "Syntax Error: Unexpected \"$\".", 1, 21),
            ("{ a(b: \"x) }", "Syntax Error: Unterminated string.", 1, 13),
            ("{ a(b: \"\"\"x) }", "Syntax Error: Unterminated string.", 1, 15),
            (
                "{ a(b: 'x') }",
                "Syntax Error: Unexpected single quote character ('), did you mean to use a double quote (\")?", 1, 8
            ),
            ("{ a ? }", "Syntax Error: Unexpected character: \"?\".", 1, 5),
            ("{ a \u{7} }", "Syntax Error: Unexpected character: U+0007.", 1, 5),
            ("{ a(b: 01) }", "Syntax Error: Invalid number, unexpected digit after 0: \"1\".", 1, 9),
            ("{ a(b: 1.) }", "Syntax Error: Invalid number, expected digit but got: \")\".", 1, 10),
            ("{ a(b: 1x) }", "Syntax Error: Invalid number, expected digit but got: \"x\".", 1, 9),
            ("{ a(b: -) }", "Syntax Error: Invalid number, expected digit but got: \")\".", 1, 9),
            (#"{ a(b: "\x") }"#, #"Syntax Error: Invalid character escape sequence: "\x"."#, 1, 9),
            (#"{ a(b: "\u{110000}") }"#, #"Syntax Error: Invalid Unicode escape sequence: "\u{110000}"."#, 1, 9),
            (#"{ a(b: "\uD83D") }"#, #"Syntax Error: Invalid Unicode escape sequence: "\uD83D"."#, 1, 9),
            ("type T { a }", "Syntax Error: Expected \":\", found \"}\".", 1, 12),
            ("extend type T", "Syntax Error: Unexpected <EOF>.", 1, 14),
            (
                "\"d\" extend type T { a: A }",
                "Syntax Error: Unexpected description, only GraphQL definitions support descriptions.", 1,
                1
            ),
            ("enum E { true }", "Syntax Error: Name \"true\" is reserved and cannot be used for an enum value.", 1, 10),
            ("directive @d on NOWHERE", "Syntax Error: Unexpected Name \"NOWHERE\".", 1, 17),
            ("{\n  # é😀\n  \"é😀\" ? }", "Syntax Error: Expected Name, found String \"é😀\".", 3, 3),
            ("{ a(b: \"é😀\") ? }", "Syntax Error: Unexpected character: \"?\".", 1, 15),
            ("{ a(b: \"\"\"é\r\n😀\"\"\") ? }", "Syntax Error: Unexpected character: \"?\".", 2, 8),
        ]
    )
    func errors(source: String, message: String, line: Int, column: Int) {
        let error = #expect(throws: SyntaxError.self) { try parse(source) }
        #expect(error?.message == message)
        #expect(error?.locations == [GraphQL.SourceLocation(line: line, column: column)])
    }

    @Test(
        "strings are unescaped, block strings lose their common indentation",
        arguments: [
            ("\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\"", "a\"\\/\u{8}\u{C}\n\r\tz"),
            ("\"\\u00e9\\u{1F600}\\uD83D\\uDE00\"", "é😀😀"), ("\"\"", ""), ("\"\"\"\"\"\"", ""),
            ("\"\"\"a \\\"\"\" b\"\"\"", "a \"\"\" b"), ("\"#not, a comment\"", "#not, a comment"),
            (
                "\"\"\"\n\n    Hello,\n      World!\r\n\n    Yours,\r      GraphQL.\n\n\"\"\"",
                "Hello,\n  World!\n\nYours,\n  GraphQL."
            ),
            ("\"\"\"  first\n    second\n  third  \"\"\"", "  first\n  second\nthird  "),
        ]
    )
    func strings(source: String, expected: String) throws {
        let document = try parse("{ a(b: \(source)) }")
        guard case .field(let field) = document.operations[0].selectionSet.selections[0] else {
            Issue.record("no field")
            return
        }
        #expect(field.arguments[0].value.stringValue == expected)
    }

    @Test("what is beyond a limit is refused, what is at it is not")
    func limits() throws {
        let tight = ParseLimits(maximumBytes: 40, maximumTokens: 12, maximumDepth: 3)
        for source in [
            "{ a { b { c } } }", "{ a b c d e f g h i j }", "{ a(b: [[1]]) }",
            "{ a #" + String(repeating: "x", count: 33) + "\n}",
        ] {
            _ = try parse(source, limits: tight)
        }
        for source in [
            "{ a{b{c{d}}}}", "{ a b c d e f g h i j k }", "{ a(b: [[[1]]]) }",
            "{ a #" + String(repeating: "x", count: 34) + "\n}",
        ] {
            #expect(throws: SyntaxError.self) { try parse(source, limits: tight) }
        }
    }

    @Test(
        "nesting without end is refused without using up the stack",
        arguments: ["{a", "{a(b:[", "{a(b:{c:", "query($a:[", "{...{"]
    )
    func nesting(piece: String) {
        let source = String(repeating: piece, count: 100_000)
        #expect(throws: SyntaxError.self) { try parse(source, limits: .unlimited) }
    }

    @Test("bytes that are not UTF-8 are refused")
    func encoding() {
        #expect(throws: SyntaxError.self) { try parse(Array("{ a(b: \"".utf8) + [0xFF] + Array("\") }".utf8)) }
    }

    @Test("a query after a type without a body does not become its fields when printed")
    func queryAfterType() throws {
        let printed = printDocument(try parse("type a query { b }"))
        #expect(printed == "type a\n\nquery {\n  b\n}")
        #expect(printDocument(try parse(printed)) == printed)
    }

    @Test("random documents never crash, and what is read prints to something that prints the same")
    func randomInput() throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        var state = seed
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let pieces = [
            "{", "}", "(", ")", "[", "]", ":", "=", "!", "|", "&", "@", "$", "...", "on", "a", "type", "query", "1",
            "-1.5e3",
            "\"s\"", "\"\"\"b\"\"\"", "#c\n", "\n", "é", "\\", "\"", "fragment", "extend", "input", "{ a }", "a: Int",
            "@d",
        ]
        for _ in 0..<20_000 {
            let source = (0..<next(14)).map { _ in pieces[next(pieces.count)] }.joined(separator: " ")
            guard let document = try? parse(source) else { continue }
            let printed = printDocument(document)
            let again = try parse(printed)
            #expect(printDocument(again) == printed, "seed \(seed): \(source)")
        }
    }
}
