import Testing

@Suite("SingleFieldSubscriptions rule")
struct SingleFieldSubscriptionsRuleTests {
    @Test(
        "one root field is fine, in fragments too",
        arguments: [
            "subscription { barks { name } }",
            "subscription { ...F } fragment F on Subscription { barks { name } }",
            "subscription { barks { name } barks { nickname } }",
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "several, optional or introspection root fields are refused",
        arguments: [
            (
                "subscription { barks { name } meows { name } }",
                ["Anonymous Subscription must select only one top level field. (1:31)"]
            ),
            (
                "subscription S { ...F } fragment F on Subscription { barks { name } x: barks { name } }",
                [#"Subscription "S" must select only one top level field. (1:69)"#]
            ),
            (
                "subscription S { __typename }",
                [#"Subscription "S" must not select an introspection top level field. (1:18)"#]
            ),
            (
                "subscription { barks @include(if: true) { name } }",
                [
                    "Anonymous Subscription must not use `@skip` or `@include` directives in the top level selection. (1:1)"
                ]
            ),
            (
                "subscription { ... @skip(if: false) { barks { name } } }",
                [
                    "Anonymous Subscription must not use `@skip` or `@include` directives in the top level selection. (1:1)"
                ]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
