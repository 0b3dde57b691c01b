import Testing

@Suite("VariablesInAllowedPosition rule")
struct VariablesInAllowedPositionRuleTests {
    @Test(
        "variables of the position's type, or stricter, are fine",
        arguments: [
            "query ($a: Int!, $b: Int = 1, $c: [String!]!, $d: Boolean!) { field(int: $a) required(int: $b) strings(in: $c) complicated(in: {required: $d}) }",
            "query ($a: Int) { defaulted(int: $a) }",
            "query ($a: String!) { oneOf(in: {a: $a}) }",
        ]
    )
    func valid(document: String) throws {
        try expectValid(document)
    }

    @Test(
        "variables that may be null or are of another type are refused",
        arguments: [
            (
                "query ($a: String) { field(int: $a) }",
                [#"Variable "$a" of type "String" used in position expecting type "Int". (1:8, 1:33)"#]
            ),
            (
                "query ($a: Int) { required(int: $a) }",
                [#"Variable "$a" of type "Int" used in position expecting type "Int!". (1:8, 1:33)"#]
            ),
            (
                "query ($a: Int = null) { required(int: $a) }",
                [#"Variable "$a" of type "Int" used in position expecting type "Int!". (1:8, 1:40)"#]
            ),
            (
                "query ($a: String, $b: [String]) { strings(in: $a) strict(in: $b) list: strings(in: [$b]) }",
                [
                    #"Variable "$a" of type "String" used in position expecting type "[String]". (1:8, 1:48)"#,
                    #"Variable "$b" of type "[String]" used in position expecting type "[String!]". (1:20, 1:63)"#,
                    #"Variable "$b" of type "[String]" used in position expecting type "String". (1:20, 1:86)"#,
                ]
            ),
            (
                "query ($a: Boolean) { dog @include(if: $a) { ...F } } fragment F on Dog { name @skip(if: $a) }",
                [
                    #"Variable "$a" of type "Boolean" used in position expecting type "Boolean!". (1:8, 1:40)"#,
                    #"Variable "$a" of type "Boolean" used in position expecting type "Boolean!". (1:8, 1:90)"#,
                ]
            ),
            (
                "query ($a: String) { oneOf(in: {a: $a}) }",
                [
                    #"Variable "$a" is of type "String" but must be non-nullable to be used for OneOf Input Object "OneOf". (1:8, 1:36)"#
                ]
            ),
            (
                "query ($a: Int) { any(in: [$a, {b: $a}]) }",
                [#"Variable "$a" of type "Int" used in position expecting type "Any". (1:8, 1:28)"#]
            ),
            (
                "query ($a: Int) { complicated(in: {required: $a}) }",
                [#"Variable "$a" of type "Int" used in position expecting type "Boolean!". (1:8, 1:46)"#]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document)
    }
}
