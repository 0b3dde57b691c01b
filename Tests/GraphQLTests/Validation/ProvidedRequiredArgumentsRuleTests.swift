import Testing

@Suite("ProvidedRequiredArguments rule")
struct ProvidedRequiredArgumentsRuleTests {
    @Test(
        "required arguments that are given, and others left out, are fine",
        arguments: [
            "{ required(int: 1) defaulted dog { name @skip(if: true) } two(a: 1, b: 2) }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "required arguments left out are refused",
        arguments: [
            (
                "{ required two(a: 1) }",
                [
                    #"Field "required" argument "int" of type "Int!" is required, but it was not provided. (1:3)"#,
                    #"Field "two" argument "b" of type "Int!" is required, but it was not provided. (1:12)"#,
                ]
            ),
            (
                "{ dog { name @skip ...F @include } } fragment F on Dog { name }",
                [
                    #"Directive "@skip" argument "if" of type "Boolean!" is required, but it was not provided. (1:14)"#,
                    #"Directive "@include" argument "if" of type "Boolean!" is required, but it was not provided. (1:25)"#,
                ]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
