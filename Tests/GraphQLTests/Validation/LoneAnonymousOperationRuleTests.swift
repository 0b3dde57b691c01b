import Testing

@Suite("LoneAnonymousOperation rule")
struct LoneAnonymousOperationRuleTests {
    @Test(
        "one operation without a name is fine",
        arguments: [
            "{ dog { name } }",
            "query A { dog { name } } query B { dog { name } }",
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "an operation without a name beside others is refused",
        arguments: [
            (
                "{ dog { name } } query B { dog { name } }",
                ["This anonymous operation must be the only defined operation. (1:1)"]
            ),
            (
                "{ dog { name } } { cat { name } }",
                [
                    "This anonymous operation must be the only defined operation. (1:1)",
                    "This anonymous operation must be the only defined operation. (1:18)",
                ]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
