import GraphQL
import Testing

@Suite("MaxIntrospectionDepth rule")
struct MaxIntrospectionDepthRuleTests {
    @Test(
        "the query of schema explorers is fine",
        arguments: [
            "{ __schema { types { fields { args { type { ofType { ofType { ofType { name } } } } } } possibleTypes { name } } } }"
        ]
    )
    func valid(document: String) throws {
        try expectErrors([], in: document, limits: .standard)
    }

    @Test(
        "lists of types inside lists inside lists are refused",
        arguments: [
            (
                "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }",
                ["Maximum introspection depth exceeded (1:3)"]
            ),
            (
                #"{ __type(name: "Dog") { ...T } } fragment T on __Type { interfaces { possibleTypes { inputFields { name } } } }"#,
                ["Maximum introspection depth exceeded (1:3)"]
            ),
        ]
    )
    func invalid(document: String, errors: [String]) throws {
        try expectErrors(errors, in: document, limits: .standard)
    }
}
