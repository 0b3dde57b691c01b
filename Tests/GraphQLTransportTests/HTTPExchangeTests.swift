import GraphQL
import GraphQLTransport
import HTTPTypes
import Testing

@Suite("GraphQL over HTTP")
struct HTTPExchangeTests {
    @Test(
        "a body must say that it is JSON in UTF-8",
        arguments: [
            ("application/json", true), ("application/json; charset=UTF-8", true), ("Application/JSON", true),
            ("application/json;charset=\"utf-8\"", true), ("application/graphql", true),
            ("application/json; charset=latin1", false), ("text/plain", false), ("multipart/form-data", false),
            ("application/x-www-form-urlencoded", false), ("application/jsonx", false), ("", false), (nil, false),
        ] as [(String?, Bool)]
    )
    func contentTypes(contentType: String?, isServed: Bool) {
        switch HTTPExchange(method: .post, contentType: contentType).negotiated() {
        case .success(let agreement): #expect(isServed && agreement.source == .body)
        case .failure(let refusal): #expect(!isServed && refusal.status == .unsupportedMediaType)
        }
    }

    @Test("GET reads the parameters, other methods are refused with what is allowed")
    func methods() throws {
        #expect(try HTTPExchange(method: .get).negotiated().get().source == .parameters)
        for method in [HTTPRequest.Method.put, .delete, .patch, .options] {
            guard case .failure(let refusal) = HTTPExchange(method: method).negotiated() else {
                Issue.record("\(method) was served")
                continue
            }
            #expect(refusal.status == .methodNotAllowed)
            #expect(refusal.allow == "GET, POST")
        }
    }

    @Test("a body with a content coding is refused")
    func codings() {
        let exchange = HTTPExchange(method: .post, contentType: "application/json", contentEncoding: "gzip")
        #expect(throws: HTTPRefusal.self) { try exchange.negotiated().get() }
    }

    @Test(
        "a mutation needs POST, a subscription a socket or an event stream",
        arguments: [
            (.query, .get, "application/json", nil), (.query, .post, "application/json", nil),
            (.mutation, .post, "application/json", nil), (.mutation, .get, "application/json", 405),
            (.mutation, .get, "application/graphql-response+json", 405), (.mutation, .get, "text/event-stream", 405),
            (.subscription, .post, "application/json", 200),
            (.subscription, .post, "application/graphql-response+json", 400),
            (.subscription, .post, "text/event-stream", nil), (.subscription, .get, "text/event-stream", nil),
            (.subscription, .post, "application/json, text/event-stream", nil),
        ] as [(OperationKind, HTTPRequest.Method, String, Int?)]
    )
    func kinds(kind: OperationKind, method: HTTPRequest.Method, accept: String, status: Int?) throws {
        let exchange = HTTPExchange(method: method, contentType: "application/json", accept: accept)
        #expect(HTTPRefusal.refusal(of: kind, try exchange.negotiated().get())?.status.code == status)
    }

    @Test(
        "what a plain page can send is refused unless a field shows that its sender chose it",
        arguments: [
            (nil, [:], true), ("text/plain", [:], true), ("application/x-www-form-urlencoded; a=b", [:], true),
            ("multipart/form-data; boundary=b", [:], true), ("nonsense", [:], true), (nil, ["x-other": "1"], true),
            ("application/json", [:], false), (nil, ["authorization": "t"], false), (nil, ["x-api-key": "k"], false),
            (nil, ["apollo-require-preflight": ""], false), (nil, ["x-apollo-operation-name": "Q"], false),
            (nil, ["graphql-require-preflight": "1"], false),
        ] as [(String?, [String: String], Bool)]
    )
    func forgery(contentType: String?, fields: [String: String], isRefused: Bool) throws {
        let exchange = HTTPExchange(method: .get, contentType: contentType)
        let agreement = try exchange.negotiated().get()
        let refusal = ForgeryProtection().refusal(of: exchange, agreement) { fields[$0] }
        #expect(refusal?.status.code == (isRefused ? 403 : nil))
        #expect(refusal?.message.contains("apollo-require-preflight") != false)
    }

    @Test(
        "a reply's status follows from how far it came and from the type it travels in",
        arguments: [
            (.executed, .json, 200), (.executed, .graphQLResponse, 200),
            (.requestError, .json, 200), (.requestError, .graphQLResponse, 400),
            (.unavailable, .json, 503), (.unavailable, .graphQLResponse, 503),
            (.tooManyRequests(retryAfterSeconds: 1), .json, 429),
        ] as [(GraphQLReply.Kind, ResponseMediaType, Int)]
    )
    func statuses(kind: GraphQLReply.Kind, mediaType: ResponseMediaType, status: Int) {
        #expect(GraphQLReply(kind: kind, body: []).status(for: mediaType).code == status)
    }

    @Test("an error has AppSync's members or the specification's, as the client speaks")
    func shapes() {
        let appSync = ErrorBody.response("No \"x\".", code: .unauthenticated, style: .appSync)
        let standard = ErrorBody.response("No \"x\".", code: .unauthenticated, style: .standard)
        #expect(
            String(decoding: appSync, as: UTF8.self)
                == #"{"errors":[{"errorType":"UnauthorizedException","message":"No \"x\".","extensions":{"code":"UNAUTHENTICATED"}}]}"#
        )
        #expect(
            String(decoding: standard, as: UTF8.self)
                == #"{"errors":[{"message":"No \"x\".","extensions":{"code":"UNAUTHENTICATED"}}]}"#
        )
    }
}
