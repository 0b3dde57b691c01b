import Testing

@Suite("UniqueInputFieldNames rule")
struct UniqueInputFieldNamesRuleTests {
    @Test(
        "different fields of an input object are fine",
        arguments: [
            "{ complicated(in: {required: true, int: 1}) }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "one field of an input object twice is refused",
        arguments: [
            (
                "{ complicated(in: {required: true, int: 1, int: 2}) any(in: {a: {b: 1, b: 2}}) }",
                [
                    #"There can be only one input field named "int". (1:36, 1:44)"#,
                    #"There can be only one input field named "b". (1:66, 1:72)"#,
                ]
            )
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
