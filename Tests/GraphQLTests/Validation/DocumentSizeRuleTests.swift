import GraphQL
import Testing

@Suite("Limits of documents")
struct DocumentSizeRuleTests {
    /// Parts of a document that differ by their numbers.
    private static func repeated(_ count: Int, _ part: (Int) -> String) -> String {
        (0..<count).map(part).joined(separator: " ")
    }

    /// A document of each kind with as much of it as asked for.
    private static func document(_ kind: String, _ count: Int) -> String {
        switch kind {
        case "aliases": "{ dog { " + repeated(count) { "a\($0): name" } + " } }"
        case "fields of the root":
            "{ ...F " + repeated(count - 1) { "a\($0): __typename" } + " } fragment F on Query { b: __typename }"
        case "directives": "{ dog { " + repeated(count) { _ in "name @onField" } + " } }"
        case "operations": repeated(count) { "query Q\($0) { dog { name } }" }
        default:
            "{ dog { " + repeated(count) { "...F\($0)" } + " } } "
                + repeated(count) { "fragment F\($0) on Dog { name }" }
        }
    }

    @Test(
        "what is at the limit is fine, one more is refused with its location",
        arguments: [
            ("aliases", 30, "The document has 31 aliases; at most 30 are allowed. (1:299)"),
            (
                "fields of the root", 20,
                "The operation asks for 21 fields of the root; at most 20 are allowed. (1:1)"
            ),
            ("directives", 20, "The document has 21 directives; at most 20 are allowed. (1:294)"),
            ("operations", 10, "The document has 11 operations; at most 10 are allowed. (1:261)"),
            ("fragments", 50, "The document has 51 fragments; at most 50 are allowed. (1:1800)"),
        ]
    )
    func limit(kind: String, most: Int, error: String) throws {
        try expectErrors([], in: Self.document(kind, most), limits: .standard)
        try expectErrors([error], in: Self.document(kind, most + 1), limits: .standard)
    }

    @Test("the reference's introspection query is within all limits")
    func introspection() throws {
        let document = """
            query IntrospectionQuery { __schema { description queryType { name } mutationType { name }
            subscriptionType { name } types { ...FullType } directives { name description isRepeatable locations
            args(includeDeprecated: true) { ...InputValue } } } } fragment FullType on __Type { kind name
            description specifiedByURL isOneOf fields(includeDeprecated: true) { name description
            args(includeDeprecated: true) { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason }
            inputFields(includeDeprecated: true) { ...InputValue } interfaces { ...TypeRef }
            enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } possibleTypes {
            ...TypeRef } } fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue
            isDeprecated deprecationReason } fragment TypeRef on __Type { kind name ofType { kind name ofType {
            kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind
            name ofType { kind name ofType { kind name } } } } } } } } } }
            """
        try expectErrors([], in: document, limits: ValidationLimits(maximumDepth: 12))
    }
}
