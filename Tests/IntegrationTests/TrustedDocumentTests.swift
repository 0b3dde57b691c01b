import Foundation
import JSON
import Testing

@Suite("Persisted and trusted documents, as served", .timeLimit(.minutes(5)))
struct TrustedDocumentTests {
    private static let me = "{ me { username } }"
    /// What `sha256sum` says of the text above.
    private static let hash = "ae90e5d3a5ec2c390bc0513bc9995ca3ec2d0a46cb05d2d82e649dd18119bda4"
    private static let persistedQuery: JSONValue = ["persistedQuery": ["version": 1, "sha256Hash": .string(hash)]]
    private static let answer: JSONValue = ["data": ["me": ["username": "ada"]]]

    @Test("a hash is unknown, then sent with its text, then enough: over POST, GET and a socket")
    func automatic() async throws {
        try await Installation.run { installation in
            let token = try await installation.addUser("ada")
            let parameters = ["--get", "--data-urlencode", "extensions=\(Self.persistedQuery.serializedString())"]
            let unknown = try await installation.http("/graphql", token: token, parameters)
            #expect(unknown.status == 200)
            #expect(unknown.header("cache-control") == "no-store")
            #expect(try unknown.json["errors"]?[0]?["message"] == "PersistedQueryNotFound")
            #expect(try unknown.json.errorCode == "PERSISTED_QUERY_NOT_FOUND")
            let standard = ["--header", "Accept: application/graphql-response+json"]
            let strict = try await installation.http("/graphql", token: token, parameters + standard)
            #expect(strict.status == 400)
            #expect(try strict.json == ["errors": [.object(Self.notFound)]])

            let wrong: JSONValue = ["query": "{ __typename }", "extensions": Self.persistedQuery]
            #expect(try await Self.post(wrong, token, installation).errorCode == "BAD_USER_INPUT")
            let whole: JSONValue = ["query": .string(Self.me), "extensions": Self.persistedQuery]
            #expect(try await Self.post(whole, token, installation) == Self.answer)
            #expect(try await Self.post(["extensions": Self.persistedQuery], token, installation) == Self.answer)
            let byID: JSONValue = ["documentId": .string("sha256:" + Self.hash)]
            #expect(try await Self.post(byID, token, installation) == Self.answer)
            #expect(try await installation.http("/graphql", token: token, parameters).json == Self.answer)

            let socket = try await RawSocket(installation, token: token)
            #expect(try await socket.isAcknowledged())
            try socket.send(["id": "1", "type": "subscribe", "payload": ["extensions": Self.persistedQuery]])
            #expect(try await socket.next() == .message(["id": "1", "type": "next", "payload": Self.answer]))
            #expect(try await socket.next() == .message(["id": "1", "type": "complete"]))
        }
    }

    @Test("switched off, a client is told to send texts")
    func off() async throws {
        try await Installation.run {
            $0.options += ["--persisted-queries", "false"]
        } _: { installation in
            let token = try await installation.addUser("ada")
            let whole: JSONValue = ["query": .string(Self.me), "extensions": Self.persistedQuery]
            #expect(try await Self.post(whole, token, installation).errorCode == "PERSISTED_QUERY_NOT_SUPPORTED")
            #expect(try await Self.post(["query": .string(Self.me)], token, installation) == Self.answer)
        }
    }

    @Test("as many documents are kept as the setting says, and a mutation by hash needs POST")
    func bounded() async throws {
        try await Installation.run {
            $0.options += ["--persisted-query-count", "1"]
        } _: { installation in
            let token = try await installation.addUser("ada")
            let whole: JSONValue = ["query": .string(Self.me), "extensions": Self.persistedQuery]
            #expect(try await Self.post(whole, token, installation) == Self.answer)
            #expect(try await Self.post(["extensions": Self.persistedQuery], token, installation) == Self.answer)

            let mutation = "mutation { createTopic(input: { name: \"x\" }) { name } }"
            let hash = "1028babfde8e46d47adf7cd1702319161c30b2ce9ff487aa7fc59a711000da10"
            let extensions: JSONValue = ["persistedQuery": ["version": 1, "sha256Hash": .string(hash)]]
            let made = try await Self.post(
                ["query": .string(mutation), "extensions": extensions],
                token,
                installation
            )
            #expect(made == ["data": ["createTopic": ["name": "x"]]])
            let parameters = ["--get", "--data-urlencode", "extensions=\(extensions.serializedString())"]
            let refused = try await installation.http("/graphql", token: token, parameters)
            #expect(refused.status == 405)
            let gone = try await Self.post(["extensions": Self.persistedQuery], token, installation)
            #expect(gone.errorCode == "PERSISTED_QUERY_NOT_FOUND")
        }
    }

    @Test("with a folder of trusted documents only, these run by hash, name and text, and nothing else does")
    func only() async throws {
        try await Installation.run { installation in
            let folder = installation.folder + "/documents"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try (Self.me + "\n").write(toFile: folder + "/me.graphql", atomically: true, encoding: .utf8)
            let manifest: JSONValue = [
                "format": "apollo-persisted-query-manifest", "version": 1,
                "operations": [["id": "topics", "body": "query T { listTopics { items { id } } }", "name": "T"]],
            ]
            try manifest.serializedString().write(toFile: folder + "/a.json", atomically: true, encoding: .utf8)
            let feed = #"{"feed": "subscription { onCreateTopic { name } }"}"#
            try feed.write(toFile: folder + "/relay.json", atomically: true, encoding: .utf8)
            installation.options += ["--trusted-documents", folder, "--trusted-mode", "only"]
        } _: { installation in
            let token = try await installation.addUser("ada")
            for request: JSONValue in [
                ["query": .string(Self.me)], ["query": .string(Self.me + "\n")], ["documentId": "me"],
                ["extensions": Self.persistedQuery],
                ["documentId": .string("sha256:" + Self.hash)],
            ] {
                #expect(try await Self.post(request, token, installation) == Self.answer)
            }
            let topics: JSONValue = ["data": ["listTopics": ["items": []]]]
            #expect(try await Self.post(["documentId": "topics"], token, installation) == topics)
            let named = try await installation.http("/graphql?documentId=topics&operationName=T", token: token)
            #expect(try named.json == topics)
            for request: JSONValue in [
                ["query": "{ __schema { queryType { name } } }"], ["query": "{ __typename }"], ["documentId": "none"],
                ["query": "mutation { createTopic(input: { name: \"x\" }) { id } }"],
            ] {
                #expect(try await Self.post(request, token, installation).errorCode == "DOCUMENT_NOT_TRUSTED")
            }
            let socket = try await RawSocket(installation, token: token)
            #expect(try await socket.isAcknowledged())
            let free: JSONValue = ["query": "subscription { onCreateMessage { id } }"]
            try socket.send(["id": "1", "type": "subscribe", "payload": free])
            guard case .message(let refusal) = try await socket.next() else { throw HarnessFailure("No answer.") }
            #expect(refusal["type"] == "error")
            #expect(refusal["payload"]?[0]?["extensions"]?["code"] == "DOCUMENT_NOT_TRUSTED")
            try socket.send(["id": "2", "type": "subscribe", "payload": ["documentId": "feed"]])
            try socket.send(["type": "ping"])
            #expect(try await socket.next() == .message(["type": "pong"]))
        }
    }

    @Test(
        "documents that cannot be run stop the start, with the file, the line and what to do",
        arguments: [
            ("a.graphql", "query {\n  me {\n    nope\n  }\n}", "a.graphql:3:5", "nope"),
            ("b.graphql", "{ me ", "b.graphql:1:", "Expected"),
            ("c.graphql", "type A { b: Int }", "c.graphql:1:1", "A"),
            ("m.json", #"{"one": "{ me\n{ nope } }"}"#, "\"one\", line 2", "nope"),
            ("m.json", "[", "m.json", "not JSON"),
            ("me.json", #"{"twice": "{ me { username } }", "TWICE": "{ me { nope } }"}"#, "\"TWICE\", line 1", "nope"),
            ("readme.txt", "nothing", "holds no documents", "manifest"),
        ]
    )
    func bad(file: String, text: String, location: String, words: String) async throws {
        try await Installation.run { installation in
            let folder = installation.folder + "/documents"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try text.write(toFile: folder + "/" + file, atomically: true, encoding: .utf8)
            let result = try await Self.start(installation, folder)
            #expect(result.status == 1)
            for part in [location, words, "Correct them"] {
                #expect(result.errors.contains(part), "\(part): \(result.errors)")
            }
        }
    }

    @Test("a folder that is not there stops the start, and so does a mode without a folder")
    func missing() async throws {
        try await Installation.run { installation in
            let result = try await Self.start(installation, installation.folder + "/nowhere")
            #expect(result.status == 1)
            #expect(result.errors.contains("no file or folder"), "\(result.errors)")
            let arguments = ["serve", "--port", "0", "--trusted-mode", "only"]
            let other = try await installation.tocsin(arguments, token: "none")
            #expect(other.status == 2)
            #expect(other.errors.contains("TOCSIN_TRUSTED_DOCUMENTS"), "\(other.errors)")
        }
    }

    private static let notFound: JSONObject = [
        "message": "PersistedQueryNotFound", "locations": [], "extensions": ["code": "PERSISTED_QUERY_NOT_FOUND"],
    ]

    private static func start(
        _ installation: Installation,
        _ folder: String
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await installation.tocsin(
            [
                "serve", "--port", "0", "--data-dir", installation.folder + "/other", "--trusted-documents", folder,
                "--trusted-mode", "allow",
            ],
            token: "none"
        )
    }

    private static func post(
        _ request: JSONValue,
        _ token: String,
        _ installation: Installation
    ) async throws -> JSONValue {
        try await installation.http(
            "/graphql",
            token: token,
            ["--header", "Content-Type: application/json", "--data-binary", request.serializedString()]
        ).json
    }
}
