import Testing

@Suite("KnownArgumentNames rule")
struct KnownArgumentNamesRuleTests {
    @Test(
        "arguments of the field or directive are fine",
        arguments: [
            "{ dog { name(surname: true) @include(if: true) } human(id: 1) { name } }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "arguments nobody declares are refused",
        arguments: [
            (
                "{ dog { name(full: true) } }",
                [#"Unknown argument "full" on field "Dog.name". (1:14)"#]
            ),
            (
                "{ dog @skip(if: true, unless: false) { name } }",
                [#"Unknown argument "unless" on directive "@skip". (1:23)"#]
            ),
            (
                "{ dog { nickname(x: 1) ... on Pet { name(y: 1) } } }",
                [
                    #"Unknown argument "x" on field "Dog.nickname". (1:18)"#,
                    #"Unknown argument "y" on field "Pet.name". (1:42)"#,
                ]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
