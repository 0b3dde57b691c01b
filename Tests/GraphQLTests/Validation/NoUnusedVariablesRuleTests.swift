import Testing

@Suite("NoUnusedVariables rule")
struct NoUnusedVariablesRuleTests {
    @Test(
        "variables used in fragments and inside values are fine",
        arguments: [
            "query ($a: Int, $b: String, $c: Boolean!) { ...F strings(in: [$b]) dog @skip(if: $c) { name } } fragment F on Query { complicated(in: {required: true, int: $a}) }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "variables nobody uses are refused",
        arguments: [
            (
                "query A($a: Int, $b: Int) { field(int: $a) }",
                [#"Variable "$b" is never used in operation "A". (1:18)"#]
            ),
            (
                "query ($a: Int) { dog { name } }",
                [#"Variable "$a" is never used. (1:8)"#]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
