import GraphQLTransport
import JSON
import Testing

@Suite("GraphQL requests")
struct GraphQLRequestTests {
    @Test("a body brings query, variables, operation name and extensions; other members are ignored")
    func body() throws {
        let text = #"{"query":"{a}","variables":{"x":[1]},"operationName":"Q","extensions":{"e":null},"more":1}"#
        let request = try GraphQLRequest.parse(body: Array(text.utf8))
        let expected = GraphQLRequest(
            query: "{a}",
            variables: ["x": [1]],
            operationName: "Q",
            extensions: ["e": nil]
        )
        #expect(request == expected)
    }

    @Test("null and absent members are the same")
    func nulls() throws {
        let text = #"{"query":"{a}","variables":null,"operationName":null,"extensions":null}"#
        #expect(try GraphQLRequest.parse(body: Array(text.utf8)) == GraphQLRequest(query: "{a}"))
    }

    @Test(
        "what is wrong with a body is said",
        arguments: [
            ("", "has no body"),
            ("nonsense", "not JSON we accept: Expected a value"),
            ("[{\"query\":\"a\"}]", "batches are not served"),
            ("3", "not an object"),
            ("{}", "has no \"query\""),
            (#"{"query":null}"#, "has no \"query\""),
            (#"{"query":1}"#, "\"query\" is not a string"),
            (#"{"query":"a","variables":"{}"}"#, "\"variables\" is not an object"),
            (#"{"query":"a","variables":[]}"#, "\"variables\" is not an object"),
            (#"{"query":"a","operationName":1}"#, "\"operationName\" is not a string"),
            (#"{"query":"a","extensions":"x"}"#, "\"extensions\" is not an object"),
            (
                "{\"query\":\"a\",\"variables\":{\"x\":[\(String(repeating: "1,", count: 1000))1]}}",
                "more than 1000 values"
            ),
        ]
    )
    func faults(body: String, message: String) {
        #expect {
            try GraphQLRequest.parse(body: Array(body.utf8))
        } throws: { error in
            "\(error)".contains(message)
        }
    }

    @Test("parameters of a target are decoded as forms are")
    func parameters() throws {
        let text = "query=%7Ba%7D+%23%C3%A9&operationName=Q&variables=%7B%22x%22%3A%22+%26%22%7D&other=1&extensions="
        let request = try GraphQLRequest.parse(queryString: text)
        #expect(request == GraphQLRequest(query: "{a} #é", variables: ["x": " &"], operationName: "Q"))
    }

    @Test(
        "what is wrong with parameters is said",
        arguments: [
            ("", "has no \"query\""),
            ("query=%7", "percent-encoded"),
            ("query=%zz", "percent-encoded"),
            ("query=%FF", "percent-encoded"),
            ("query=a&query=b", "given twice"),
            ("query=a&variables=x", "\"variables\" is not JSON"),
            ("query=a&variables=%22x%22", "\"variables\" is not an object"),
        ]
    )
    func parameterFaults(text: String, message: String) {
        #expect {
            try GraphQLRequest.parse(queryString: text)
        } throws: { error in
            "\(error)".contains(message)
        }
    }

    private static let hash = String(repeating: "0aF9", count: 16)

    @Test("a request that names its document needs no text")
    func named() throws {
        let text = #"{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"\#(Self.hash)"}}}"#
        let request = try GraphQLRequest.parse(body: Array(text.utf8))
        #expect(request.query.isEmpty)
        let reference = try PersistedQueryReference(extensions: request.extensions)
        let inLowerCase: JSONObject = ["persistedQuery": ["version": 1, "sha256Hash": .string(Self.hash.lowercased())]]
        #expect(try reference == PersistedQueryReference(extensions: inLowerCase))
        let byID = try GraphQLRequest.parse(body: Array(#"{"documentId":"mine","query":null}"#.utf8))
        #expect(byID == GraphQLRequest(query: "", documentID: "mine"))
        let parameters = try GraphQLRequest.parse(queryString: "documentId=sha256:\(Self.hash)&variables=%7B%7D")
        #expect(parameters.documentID == "sha256:\(Self.hash)")
    }

    @Test("another version than 1 is told apart from no persisted query")
    func version() throws {
        let reference = try PersistedQueryReference(extensions: ["persistedQuery": ["version": 2, "sha256Hash": "x"]])
        #expect(reference?.version == 2)
        #expect(try PersistedQueryReference(extensions: ["persistedQuery": nil, "more": 1]) == nil)
    }

    @Test(
        "what is wrong with a document's name is said",
        arguments: [
            (#"{"query":"a","extensions":{"persistedQuery":1}}"#, "not as expected"),
            (#"{"query":"a","extensions":{"persistedQuery":{"sha256Hash":"x"}}}"#, "not as expected"),
            (#"{"query":"a","extensions":{"persistedQuery":{"version":1}}}"#, "no SHA-256"),
            (#"{"query":"a","extensions":{"persistedQuery":{"version":1,"sha256Hash":"abc"}}}"#, "no SHA-256"),
            (#"{"extensions":{"more":1}}"#, "has no \"query\""),
            (#"{"documentId":""}"#, "has no \"query\""),
            (#"{"documentId":1}"#, "\"documentId\" is not a string"),
            ("{\"documentId\":\"\(String(repeating: "x", count: 257))\"}", "longer than 256 bytes"),
        ]
    )
    func namingFaults(body: String, message: String) {
        #expect {
            try GraphQLRequest.parse(body: Array(body.utf8))
        } throws: { error in
            "\(error)".contains(message)
        }
    }

    @Test(
        "a token is bare or follows the word Bearer",
        arguments: [
            ("abc", "abc"), ("Bearer abc", "abc"), ("bearer  abc", "abc"), ("Bearerabc", "Bearerabc"), ("Bearer", nil),
            ("", nil), ("Basic abc", "Basic abc"),
        ] as [(String, String?)]
    )
    func bearer(header: String, token: String?) {
        #expect(Credentials(authorization: header).authorization == token)
    }

    @Test("credentials do not print their secrets")
    func redaction() {
        let credentials = Credentials(authorization: "hush", apiKey: "hush", remoteAddress: "::1")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] { #expect(!text.contains("hush")) }
    }
}
