import Testing

@Suite("NoFragmentCycles rule")
struct NoFragmentCyclesRuleTests {
    @Test(
        "fragments that spread one twice are fine",
        arguments: [
            "{ dog { ...A ...B } } fragment A on Dog { ...C } fragment B on Dog { ...C ...C } fragment C on Dog { name }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "fragments that spread themselves are refused, with the way round",
        arguments: [
            (
                "{ human { ...A } } fragment A on Human { relatives { ...A } }",
                [#"Cannot spread fragment "A" within itself. (1:54)"#]
            ),
            (
                "{ dog { ...A } } fragment A on Dog { ...B } fragment B on Dog { ...C } fragment C on Dog { ...A }",
                [#"Cannot spread fragment "A" within itself via "B", "C". (1:38, 1:65, 1:92)"#]
            ),
            (
                "{ dog { ...A } } fragment A on Dog { ...B ...C } fragment B on Dog { ...A } fragment C on Dog { ...A }",
                [
                    #"Cannot spread fragment "A" within itself via "B". (1:38, 1:70)"#,
                    #"Cannot spread fragment "A" within itself via "C". (1:43, 1:97)"#,
                ]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
