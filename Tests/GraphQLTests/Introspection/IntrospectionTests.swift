import GraphQL
import JSON
import Testing

@Suite("Introspection")
struct IntrospectionTests {
    /// What graphql-js' `getIntrospectionQuery` asks with all its options.
    static let query = """
        query IntrospectionQuery { __schema { description queryType { name kind } mutationType { name kind }
            subscriptionType { name kind } types { ...FullType }
            directives { name description isRepeatable locations args(includeDeprecated: true) { ...InputValue } } } }
        fragment FullType on __Type { kind name description specifiedByURL isOneOf
            fields(includeDeprecated: true) { name description args(includeDeprecated: true) { ...InputValue }
                type { ...TypeRef } isDeprecated deprecationReason }
            inputFields(includeDeprecated: true) { ...InputValue } interfaces { ...TypeRef }
            enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
            possibleTypes { ...TypeRef } }
        fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue isDeprecated deprecationReason }
        fragment TypeRef on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name
            ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } } } }
        """

    @Test("the query of schema explorers gives the whole schema")
    func explorer() async throws {
        let response = try await JSONService(petSchema).run(Self.query)
        try expectGolden(response.replacing("},{", with: "},\n{") + "\n", "introspection.json")
    }

    @Test("single types are found by name, deprecated parts only when asked for")
    func types() async throws {
        let service = try JSONService(
            """
            type Query { a: Int b: Int @deprecated c(x: Int @deprecated(reason: "r"), y: [Int!]! = [1]): E }
            enum E { A B @deprecated }
            """
        )
        let response = try await service.run(
            """
            query ($d: Boolean!, $n: String!) {
                q: __type(name: "Query") { __typename fields(includeDeprecated: $d) { name args { name defaultValue } } }
                e: __type(name: $n) { kind enumValues { name } fields { name } isOneOf } none: __type(name: "Nope") { name } }
            """,
            variables: ["d": true, "n": "E"]
        )
        #expect(
            response
                == #"{"data":{"q":{"__typename":"__Type","fields":[{"name":"a","args":[]},{"name":"b","args":[]},{"name":"c","args":[{"name":"y","defaultValue":"[1]"}]}]},"e":{"kind":"ENUM","enumValues":[{"name":"A"}],"fields":null,"isOneOf":null},"none":null}}"#
        )
    }
}
