import Testing

@Suite("ExecutableDefinitions rule")
struct ExecutableDefinitionsRuleTests {
    @Test(
        "operations and fragments are fine",
        arguments: [
            "{ dog { ...F } } fragment F on Dog { name }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "definitions of types are refused",
        arguments: [
            (
                "{ dog { name } } type Cow { name: String }",
                [#"The "Cow" definition is not executable. (1:18)"#]
            ),
            (
                "{ dog { name } } schema { query: Query }",
                ["The schema definition is not executable. (1:18)"]
            ),
            (
                "{ dog { name } } directive @d on FIELD",
                [#"The "d" definition is not executable. (1:18)"#]
            ),
            (
                "{ dog { name } } extend type Dog { color: String }",
                [#"The "Dog" definition is not executable. (1:18)"#]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
