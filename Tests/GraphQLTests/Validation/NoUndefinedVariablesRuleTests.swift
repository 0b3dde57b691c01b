import Testing

@Suite("NoUndefinedVariables rule")
struct NoUndefinedVariablesRuleTests {
    @Test(
        "variables that are declared, for fragments too, are fine",
        arguments: [
            "query ($a: Int) { ...F } fragment F on Query { field(int: $a) }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "variables nobody declares are refused for each operation",
        arguments: [
            (
                "{ field(int: $a) }",
                [#"Variable "$a" is not defined. (1:14, 1:1)"#]
            ),
            (
                "query A($a: Int) { ...F } query B($b: Int) { ...F } fragment F on Query { field(int: $a) x: field(int: $b) }",
                [
                    #"Variable "$a" is not defined by operation "B". (1:86, 1:27)"#,
                    #"Variable "$b" is not defined by operation "A". (1:104, 1:1)"#,
                ]
            ),
            (
                #"query A { dog { name @include(if: $x) } list: strings(in: ["a", $y]) }"#,
                [
                    #"Variable "$x" is not defined by operation "A". (1:35, 1:1)"#,
                    #"Variable "$y" is not defined by operation "A". (1:65, 1:1)"#,
                ]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
