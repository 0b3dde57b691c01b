import Testing

@Suite("ScalarLeafs rule")
struct ScalarLeafsRuleTests {
    @Test(
        "leaves without and objects with selections are fine",
        arguments: [
            "{ dog { name } }",
            "{ dog { name(surname: true) color } }",
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "leaves with and objects without selections are refused",
        arguments: [
            (
                "{ dog }",
                [#"Field "dog" of type "Dog" must have a selection of subfields. Did you mean "dog { ... }"? (1:3)"#]
            ),
            (
                "{ dog { name { first } color { r } } }",
                [
                    #"Field "name" must not have a selection since type "String" has no subfields. (1:14)"#,
                    #"Field "color" must not have a selection since type "Color" has no subfields. (1:30)"#,
                ]
            ),
            (
                "{ human { pets } }",
                [
                    #"Field "pets" of type "[Pet]" must have a selection of subfields. Did you mean "pets { ... }"? (1:11)"#
                ]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
