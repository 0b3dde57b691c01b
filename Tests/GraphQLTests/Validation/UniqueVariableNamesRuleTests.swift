import Testing

@Suite("UniqueVariableNames rule")
struct UniqueVariableNamesRuleTests {
    @Test(
        "variables of different names are fine, and of one name in two operations",
        arguments: [
            "query A($a: Int, $b: Int) { field(int: $a) x: field(int: $b) } query B($a: Int) { field(int: $a) }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "two variables of one name are refused",
        arguments: [
            (
                "query ($a: Int, $b: Int, $a: Int, $a: Int) { field(int: $a) x: field(int: $b) }",
                [#"There can be only one variable named "$a". (1:9, 1:27, 1:36)"#]
            )
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
