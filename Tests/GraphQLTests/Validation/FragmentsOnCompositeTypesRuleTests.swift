import Testing

@Suite("FragmentsOnCompositeTypes rule")
struct FragmentsOnCompositeTypesRuleTests {
    @Test(
        "fragments on objects, interfaces and unions are fine",
        arguments: [
            "{ pet { ... on Dog { name } ...P } either { ...U } } fragment P on Pet { name } fragment U on CatOrDog { __typename }",
            "{ dog { ... { name } } }",
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "fragments on leaves and input objects are refused",
        arguments: [
            (
                "{ dog { ... on Int { x } ...F ...G } } fragment F on Color { x } fragment G on Complex { x }",
                [
                    #"Fragment cannot condition on non composite type "Int". (1:16)"#,
                    #"Fragment "F" cannot condition on non composite type "Color". (1:54)"#,
                    #"Fragment "G" cannot condition on non composite type "Complex". (1:80)"#,
                ]
            )
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
