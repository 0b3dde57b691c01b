import Testing

@Suite("KnownTypeNames rule")
struct KnownTypeNamesRuleTests {
    @Test(
        "types of the schema are known",
        arguments: [
            "query ($a: [String!], $b: Complex) { strings(in: $a) human { pets { ... on Dog { name } } } complicated(in: $b) }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "types the schema does not have are refused",
        arguments: [
            (
                "query ($a: Nope) { dog { knows(word: $a) } }",
                [#"Unknown type "Nope". (1:12)"#]
            ),
            (
                "{ dog { ... on Nope { name } ...F } } fragment F on Nada { name }",
                [#"Unknown type "Nope". (1:16)"#, #"Unknown type "Nada". (1:53)"#]
            ),
            (
                "query ($a: [Nope!]!) { strings(in: $a) }",
                [#"Unknown type "Nope". (1:13)"#]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
