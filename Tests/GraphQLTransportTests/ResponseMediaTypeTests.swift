import GraphQLTransport
import Testing

@Suite("Negotiation")
struct ResponseMediaTypeTests {
    @Test(
        "the type of the response follows from Accept",
        arguments: [
            (nil, .json),
            ("", .json),
            ("*/*", .json),
            ("application/*", .json),
            ("application/json", .json),
            ("APPLICATION/JSON; charset=utf-8", .json),
            ("application/graphql-response+json", .graphQLResponse),
            ("application/graphql-response+json, application/json", .graphQLResponse),
            ("application/json, application/graphql-response+json", .graphQLResponse),
            ("application/graphql-response+json;q=0.5, application/json", .json),
            ("application/graphql-response+json, */*;q=0.1", .graphQLResponse),
            ("application/json;q=0, */*", .graphQLResponse),
            ("text/html, application/json;q=0.9, */*;q=0.8", .json),
            ("text/html", nil),
            ("application/json;q=0", nil),
            ("application/json; charset=iso-8859-1", nil),
            ("application/json;q=2", nil),
            (";;;,,/", nil),
        ] as [(String?, ResponseMediaType?)]
    )
    func negotiated(accept: String?, expected: ResponseMediaType?) {
        #expect(ResponseMediaType.negotiated(accept: accept) == expected)
    }
}
