import GraphQL
import GraphQLTransport
import JSON
import Testing
import TocsinAPI
import TocsinCore

@Suite("Documents of requests")
struct RequestDocumentsTests {
    private static let me = "{ me { username } }"
    private static let answer: JSONValue = ["data": ["me": ["username": "alice"]]]

    /// Stands for SHA-256, which is tried with the built server: 32 bytes that any
    /// change of the text changes.
    @Sendable
    private static func hash(_ bytes: [UInt8]) -> [UInt8] {
        (0..<32).map { seed in
            let mixed = bytes.reduce(UInt64(14_695_981_039_346_656_037) &+ UInt64(seed)) {
                ($0 ^ UInt64($1)) &* 1_099_511_628_211
            }
            return UInt8(truncatingIfNeeded: mixed >> 32)
        }
    }

    private static func hexadecimal(_ text: String) -> String {
        DocumentDigest(hash(Array(text.utf8)))?.description ?? ""
    }

    private static func extensions(_ text: String, version: Int64 = 1) -> JSONObject {
        ["persistedQuery": ["version": .int(version), "sha256Hash": .string(hexadecimal(text))]]
    }

    private static func persisting(_ queries: PersistedQueries? = PersistedQueries()) async throws -> APIHarness {
        try await APIHarness { _ in RequestDocuments(hash: hash, persisted: queries) }
    }

    private static func trusting(_ texts: [String], _ mode: RequestDocuments.TrustMode) async throws -> APIHarness {
        var trusted = TrustedDocuments()
        for (index, text) in texts.enumerated() {
            let digest = try #require(DocumentDigest(hash(Array(text.utf8))))
            let isAdded = trusted.add(text, digest: digest, identifier: "name-\(index)")
            #expect(isAdded)
        }
        let documents = trusted
        return try await APIHarness { _ in
            RequestDocuments(hash: hash, persisted: PersistedQueries(), trusted: documents, mode: mode)
        }
    }

    private static func run(_ request: GraphQLRequest, on api: APIHarness) async throws -> JSONValue {
        // As the transports do: first its kind, then the request.
        let caller = APIHarness.identity("alice")
        if case .invalid(let reply) = api.service.operation(of: request, caller: caller, style: .standard) {
            #expect(reply.kind == .requestError)
            return try JSONParser.parse(reply.body)
        }
        return try JSONParser.parse(await api.service.execute(request, caller: caller, style: .standard).body)
    }

    @Test("a hash alone is unknown until its text has come with it once")
    func roundTrip() async throws {
        let api = try await Self.persisting()
        let hashOnly = GraphQLRequest(query: "", extensions: Self.extensions(Self.me))
        let unknown = try await Self.run(hashOnly, on: api)
        #expect(unknown["errors"]?[0]?["message"] == "PersistedQueryNotFound")
        #expect(unknown["errors"]?[0]?["extensions"] == ["code": "PERSISTED_QUERY_NOT_FOUND"])
        let both = GraphQLRequest(query: Self.me, extensions: Self.extensions(Self.me))
        #expect(try await Self.run(both, on: api) == Self.answer)
        #expect(try await Self.run(hashOnly, on: api) == Self.answer)
        #expect(try await Self.run(both, on: api) == Self.answer)
        let byID = GraphQLRequest(query: "", documentID: "sha256:" + Self.hexadecimal(Self.me))
        #expect(try await Self.run(byID, on: api) == Self.answer)
    }

    @Test("a text is stored only when it can be run", arguments: ["{ nope }", "{ me", "{ me }"])
    func garbage(text: String) async throws {
        let queries = PersistedQueries()
        let api = try await Self.persisting(queries)
        let response = try await Self.run(GraphQLRequest(query: text, extensions: Self.extensions(text)), on: api)
        #expect(response["errors"] != nil)
        #expect(queries.count == 0)
    }

    @Test("a hash of another text is refused and nothing stored")
    func mismatch() async throws {
        let queries = PersistedQueries()
        let api = try await Self.persisting(queries)
        let request = GraphQLRequest(query: Self.me, extensions: Self.extensions("{ other }"))
        let response = try await Self.run(request, on: api)
        #expect(response["errors"]?[0]?["extensions"]?["code"] == "BAD_USER_INPUT")
        #expect(queries.count == 0)
    }

    @Test("another version, and persisted queries switched off, are not supported, with the text or without")
    func notSupported() async throws {
        let on = try await Self.persisting()
        let off = try await Self.persisting(nil)
        for (api, version) in [(on, Int64(2)), (off, 1)] {
            for text in ["", Self.me] {
                let extensions = Self.extensions(Self.me, version: version)
                let response = try await Self.run(GraphQLRequest(query: text, extensions: extensions), on: api)
                #expect(response["errors"]?[0]?["message"] == "PersistedQueryNotSupported")
                #expect(response["errors"]?[0]?["extensions"]?["code"] == "PERSISTED_QUERY_NOT_SUPPORTED")
            }
        }
    }

    @Test("two names of different documents are refused")
    func conflict() async throws {
        let api = try await Self.persisting()
        let request = GraphQLRequest(query: "", extensions: Self.extensions(Self.me), documentID: "mine")
        let response = try await Self.run(request, on: api)
        #expect(response["errors"]?[0]?["extensions"]?["code"] == "BAD_USER_INPUT")
    }

    @Test("trusted documents are found by hash, name and text", arguments: [RequestDocuments.TrustMode.allow, .only])
    func trusted(mode: RequestDocuments.TrustMode) async throws {
        let api = try await Self.trusting([Self.me], mode)
        for request in [
            GraphQLRequest(query: "", extensions: Self.extensions(Self.me)),
            GraphQLRequest(query: Self.me, extensions: Self.extensions(Self.me)),
            GraphQLRequest(query: "", documentID: "sha256:" + Self.hexadecimal(Self.me)),
            GraphQLRequest(query: "", documentID: "name-0"),
            GraphQLRequest(query: Self.me),
        ] {
            #expect(try await Self.run(request, on: api) == Self.answer)
        }
        let wrong = GraphQLRequest(query: "{ __typename }", documentID: "name-0")
        #expect(try await Self.run(wrong, on: api)["errors"]?[0]?["extensions"]?["code"] == "BAD_USER_INPUT")
    }

    @Test("with trusted documents allowed, other texts run too, and unknown names are not found")
    func allowed() async throws {
        let api = try await Self.trusting([Self.me], .allow)
        #expect(try await Self.run(GraphQLRequest(query: "{ __typename }"), on: api)["data"] != nil)
        let unknown = try await Self.run(GraphQLRequest(query: "", documentID: "nobody"), on: api)
        #expect(unknown["errors"]?[0]?["extensions"]?["code"] == "PERSISTED_QUERY_NOT_FOUND")
    }

    @Test(
        "with trusted documents only, nothing else runs, and the refusal names it by its hash",
        arguments: [
            GraphQLRequest(query: "{ __schema { queryType { name } } }"),
            GraphQLRequest(query: "{ me { username }  }"),
            GraphQLRequest(query: "{ me"),
            GraphQLRequest(query: ""),
            GraphQLRequest(query: "{ __typename }", extensions: extensions("{ __typename }")),
            GraphQLRequest(query: "", extensions: extensions("{ __typename }")),
            GraphQLRequest(query: "", documentID: "nobody"),
        ]
    )
    func only(request: GraphQLRequest) async throws {
        let api = try await Self.trusting([Self.me], .only)
        let response = try await Self.run(request, on: api)
        #expect(response["errors"]?[0]?["extensions"]?["code"] == "DOCUMENT_NOT_TRUSTED")
        let message = response["errors"]?[0]?["message"]?.stringValue ?? ""
        if !request.query.isEmpty { #expect(message.contains("sha256:" + Self.hexadecimal(request.query))) }
        guard case .refused(let errors) = await api.subscribe(request).outcome else {
            Issue.record("A subscription got through.")
            return
        }
        #expect(String(decoding: errors, as: UTF8.self).contains("DOCUMENT_NOT_TRUSTED"))
    }

    @Test("a subscription by hash runs, in one group with those that sent its text")
    func subscription() async throws {
        let text = "subscription { onCreateTopic { name } }"
        let api = try await Self.trusting([text], .allow)
        let whole = await api.subscribe(GraphQLRequest(query: text))
        let byHash = await api.subscribe(GraphQLRequest(query: "", extensions: Self.extensions(text)))
        _ = try await api.makeTopic("first")
        for (sink, outcome) in [whole, byHash] {
            guard case .stream = outcome else {
                Issue.record("A subscription was refused.")
                return
            }
            #expect(try await sink.take(1) == [["data": ["onCreateTopic": ["name": "first"]]]])
        }
    }

    @Test("no answer tells more errors than allowed")
    func errors() async throws {
        var limits = ValidationLimits.standard
        limits.maximumErrors = 2
        let api = try await APIHarness(validationLimits: limits)
        let query = "{ \((0..<5).map { "a\($0): listTopics(limit: 0) { nextToken } " }.joined()) }"
        let response = try await api.run(query)
        #expect(response["errors"]?.arrayValue?.count == 2, "\(response.serializedString())")
    }

    @Test("variables that make a request cost too much are refused with the cost", arguments: ResponseStyle.both)
    func cost(style: ResponseStyle) async throws {
        var limits = ValidationLimits.standard
        limits.maximumCost = 500
        let api = try await APIHarness(validationLimits: limits)
        let query = "query ($n: Int) { listTopics(limit: $n) { items { id name } } }"
        #expect(try await api.run(query, ["n": 10], style: style)["errors"] == nil)
        let response = try await api.run(query, ["n": 900], style: style)
        let extensions = response["errors"]?[0]?["extensions"]
        #expect(extensions?["cost"] == 1802 && extensions?["maximumCost"] == 500)
        #expect(extensions?["code"] == "GRAPHQL_VALIDATION_FAILED")
    }
}

extension ResponseStyle {
    fileprivate static let both: [ResponseStyle] = [.appSync, .standard]
}
