import Testing

@Suite("UniqueOperationNames rule")
struct UniqueOperationNamesRuleTests {
    @Test(
        "operations of different names are fine",
        arguments: [
            "query A { dog { name } } mutation B { feed }",
            "{ dog { name } }",
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "two operations of one name are refused",
        arguments: [
            (
                "query A { dog { name } } query A { cat { name } }",
                [#"There can be only one operation named "A". (1:7, 1:32)"#]
            ),
            (
                "query A { dog { name } } mutation A { feed }",
                [#"There can be only one operation named "A". (1:7, 1:35)"#]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
