import Testing

@Suite("FieldsOnCorrectType rule")
struct FieldsOnCorrectTypeRuleTests {
    @Test(
        "fields of the type, and __typename of any, are fine",
        arguments: [
            #"{ __typename dog { __typename x: name } either { __typename } pet { name ... on Cat { meows } } __schema { queryType { name } } __type(name: "Dog") { name } }"#
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "fields the type does not have are refused",
        arguments: [
            (
                "{ dog { meows } }",
                [#"Cannot query field "meows" on type "Dog". (1:9)"#]
            ),
            (
                "{ pet { barks } }",
                [#"Cannot query field "barks" on type "Pet". (1:9)"#]
            ),
            (
                "{ either { name } }",
                [#"Cannot query field "name" on type "CatOrDog". (1:12)"#]
            ),
            (
                "{ dog { __schema { queryType { name } } } }",
                [#"Cannot query field "__schema" on type "Dog". (1:9)"#]
            ),
            (
                "{ dog { x: unknown { deeper } } }",
                [#"Cannot query field "unknown" on type "Dog". (1:9)"#]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
