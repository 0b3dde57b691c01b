import Testing

@Suite("NoUnusedFragments rule")
struct NoUnusedFragmentsRuleTests {
    @Test(
        "fragments that are spread, through others too, are fine",
        arguments: [
            "{ dog { ...A } } fragment A on Dog { ...B } fragment B on Dog { name }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "fragments nobody spreads are refused",
        arguments: [
            (
                "{ dog { name } } fragment A on Dog { name } fragment B on Dog { ...A }",
                [#"Fragment "A" is never used. (1:18)"#, #"Fragment "B" is never used. (1:45)"#]
            )
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
