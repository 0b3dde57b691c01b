import Testing

@Suite("UniqueDirectivesPerLocation rule")
struct UniqueDirectivesPerLocationRuleTests {
    @Test(
        "repeatable directives, and one directive in many locations, are fine",
        arguments: [
            "{ dog @onField { name @onField } cat @often @often { name } }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "a directive twice at one location is refused",
        arguments: [
            (
                "{ dog @onField @onField { name } }",
                [#"The directive "@onField" can only be used once at this location. (1:7, 1:16)"#]
            ),
            (
                "{ dog @skip(if: true) @onField @skip(if: false) @skip(if: true) { name } }",
                [
                    #"The directive "@skip" can only be used once at this location. (1:7, 1:32)"#,
                    #"The directive "@skip" can only be used once at this location. (1:7, 1:49)"#,
                ]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
