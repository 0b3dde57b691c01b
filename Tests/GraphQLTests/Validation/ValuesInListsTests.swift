import GraphQL
import Testing

@Suite("Values in the positions of lists")
struct ValuesInListsTests {
    @Test(
        "one item for a list is checked as an item, and told with the position's whole type",
        arguments: [
            (
                "{ f(a: 1.5, c: 1.5) }",
                [
                    #"Expected value of type "[I]!", found 1.5. 1:8"#, #"Expected value of type "I", found 1.5. 1:16"#,
                ]
            ),
            ("{ f(a: [1.5]) }", [#"Expected value of type "I", found 1.5. 1:9"#]),
            ("query ($v: [I!]! = 1) { f(a: $v) }", [#"Expected value of type "[I!]!", found 1. 1:20"#]),
            (
                "query ($v: [Int!]) { f(a: {b: $v}) }",
                [#"Variable "$v" of type "[Int!]" used in position expecting type "[Int!]!". 1:8 1:31"#]
            ), ("query ($v: [Int!]!) { f(a: {b: $v}) }", []),
        ]
    )
    func items(document: String, expected: [String]) throws {
        let schema = try Schema(sdl: "type Query { f(a: [I]!, c: I): Int } input I { b: [Int!]! }")
        let found = validate(try parse(document), against: schema).map { error in
            ([error.message] + error.locations.map { "\($0.line):\($0.column)" }).joined(separator: " ")
        }
        #expect(found == expected)
    }
}
