import Testing

@Suite("UniqueArgumentNames rule")
struct UniqueArgumentNamesRuleTests {
    @Test(
        "different arguments are fine",
        arguments: [
            "{ dog { at(x: 1, y: 1) } }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "one argument twice is refused",
        arguments: [
            (
                "{ dog { at(x: 1, y: 1, x: 2) name @include(if: true, if: false) } }",
                [
                    #"There can be only one argument named "x". (1:12, 1:24)"#,
                    #"There can be only one argument named "if". (1:44, 1:54)"#,
                ]
            )
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
