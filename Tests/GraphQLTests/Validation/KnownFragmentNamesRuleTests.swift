import Testing

@Suite("KnownFragmentNames rule")
struct KnownFragmentNamesRuleTests {
    @Test(
        "fragments of the document are known",
        arguments: [
            "{ dog { ...A } } fragment A on Dog { name }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "fragments the document does not have are refused",
        arguments: [
            (
                "{ dog { ...A ... on Dog { ...B } } }",
                [#"Unknown fragment "A". (1:12)"#, #"Unknown fragment "B". (1:30)"#]
            )
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
