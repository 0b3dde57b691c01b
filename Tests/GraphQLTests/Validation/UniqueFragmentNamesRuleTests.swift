import Testing

@Suite("UniqueFragmentNames rule")
struct UniqueFragmentNamesRuleTests {
    @Test(
        "fragments of different names are fine",
        arguments: [
            "{ dog { ...A ...B } } fragment A on Dog { name } fragment B on Dog { name }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "two fragments of one name are refused",
        arguments: [
            (
                "{ dog { ...A } } fragment A on Dog { name } fragment A on Dog { nickname }",
                [#"There can be only one fragment named "A". (1:27, 1:54)"#]
            )
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
