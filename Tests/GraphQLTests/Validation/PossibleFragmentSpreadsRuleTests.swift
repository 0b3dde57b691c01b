import Testing

@Suite("PossibleFragmentSpreads rule")
struct PossibleFragmentSpreadsRuleTests {
    @Test(
        "fragments on types an object can have are fine",
        arguments: [
            "{ dog { ... on Pet { name } ... on CatOrDog { __typename } ... on Canine { name } } pet { ... on CatOrDog { __typename } ... on Canine { name } } either { ... on Pet { name } } }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "fragments on types an object cannot have are refused",
        arguments: [
            (
                "{ dog { ... on Cat { meows } } }",
                [#"Fragment cannot be spread here as objects of type "Dog" can never be of type "Cat". (1:9)"#]
            ),
            (
                "{ dog { ...F } } fragment F on Human { name }",
                [#"Fragment "F" cannot be spread here as objects of type "Dog" can never be of type "Human". (1:9)"#]
            ),
            (
                "{ human { ... on Pet { name } } }",
                [#"Fragment cannot be spread here as objects of type "Human" can never be of type "Pet". (1:11)"#]
            ),
            (
                "{ cat { ... on Canine { name } } }",
                [#"Fragment cannot be spread here as objects of type "Cat" can never be of type "Canine". (1:9)"#]
            ),
            (
                "{ human { ... on CatOrDog { __typename } } }",
                [#"Fragment cannot be spread here as objects of type "Human" can never be of type "CatOrDog". (1:11)"#]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
