import GraphQLTransport
import HTTPTypes
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
        let outcome = HTTPExchange(method: .get, accept: accept).negotiated()
        switch outcome {
        case .success(let agreement): #expect(agreement.mediaType == expected && agreement.eventStream == .none)
        case .failure(let refusal): #expect(expected == nil && refusal.status == .notAcceptable)
        }
    }

    @Test(
        "events are streamed only to those who name their type",
        arguments: [
            ("text/event-stream", .graphQLResponse, .always),
            ("text/event-stream, */*", .json, .subscriptions),
            ("text/event-stream, */*;q=0.1", .json, .always),
            (
                "application/graphql-response+json, application/json, text/event-stream", .graphQLResponse,
                .subscriptions
            ),
            ("text/event-stream;q=0.5, application/json", .json, .subscriptions),
            ("text/event-stream;q=0, application/json", .json, .none),
            ("text/*, application/json", .json, .none),
            ("*/*", .json, .none),
        ] as [(String, ResponseMediaType, EventStreamUse)]
    )
    func eventStreams(accept: String, mediaType: ResponseMediaType, use: EventStreamUse) throws {
        let agreement = try HTTPExchange(method: .get, accept: accept).negotiated().get()
        #expect(agreement.mediaType == mediaType)
        #expect(agreement.eventStream == use)
    }
}
