import Testing

@Suite("KnownDirectives rule")
struct KnownDirectivesRuleTests {
    @Test(
        "directives where they may stand are fine",
        arguments: [
            "query ($a: Int @onVariable) @onQuery { dog @onField { ... @include(if: true) { name } ...F @skip(if: false) } field(int: $a) } fragment F on Dog @onFragment { name }"
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "unknown directives, and those out of place, are refused",
        arguments: [
            (
                "{ dog @nope { name } }",
                [#"Unknown directive "@nope". (1:7)"#]
            ),
            (
                "query @onField { dog @onQuery { ...F @onFragment } } fragment F on Dog @include(if: true) { name }",
                [
                    #"Directive "@onField" may not be used on QUERY. (1:7)"#,
                    #"Directive "@onQuery" may not be used on FIELD. (1:22)"#,
                    #"Directive "@onFragment" may not be used on FRAGMENT_SPREAD. (1:38)"#,
                    #"Directive "@include" may not be used on FRAGMENT_DEFINITION. (1:72)"#,
                ]
            ),
            (
                "query ($a: Int @onField) { field(int: $a) }",
                [#"Directive "@onField" may not be used on VARIABLE_DEFINITION. (1:16)"#]
            ),
            (
                "mutation @onQuery { feed }",
                [#"Directive "@onQuery" may not be used on MUTATION. (1:10)"#]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
