import Foundation
import JSON
import Testing

/// Who is meant by a name, an id or a token where local users and those of a sign-in provider meet.
@Suite("Names and ids of different people", .timeLimit(.minutes(5)))
struct SharingByNameTests {
    private static let secret = "a shared secret of more than 32 bytes, for tests"
    private static let carolsID = "6f9619ff-8b86-4011-b42d-00c04fc964ff"

    /// A server with local users and a sign-in provider, whose notes are shared by lists of owners.
    private static func run(_ body: (Installation) async throws -> Void) async throws {
        let prepare = { (installation: Installation) in
            let note = """
                type Note @model @auth(rules: [
                  { allow: owner }, { allow: owner, ownerField: "editors", operations: [read, update] }
                ]) {
                  id: ID!
                  text: String!
                  editors: [String]
                }
                """
            let path = installation.folder + "/model.graphql"
            try (try shippedModel() + note).write(toFile: path, atomically: true, encoding: .utf8)
            installation.options += ["--schema", path]
            installation.environment["TOCSIN_JWT_ISSUER"] = "https://id.example"
            installation.environment["TOCSIN_JWT_AUDIENCE"] = "app"
            installation.environment["TOCSIN_JWT_HS256_SECRET"] = secret
        }
        try await Installation.run(prepare: prepare, body)
    }

    private static func shippedModel() throws -> String {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: package.appendingPathComponent("schema/model.graphql"), encoding: .utf8) + "\n"
    }

    /// A token of the sign-in provider.
    private static func token(_ subject: String, _ name: String?, _ installation: Installation) async throws -> String {
        let now = Int64(Date().timeIntervalSince1970)
        var claims: JSONObject = [
            "iss": "https://id.example", "aud": "app", "sub": .string(subject), "iat": .int(now),
            "exp": .int(now + 600),
        ]
        claims["username"] = name.map { .string($0) }
        return try await SharedSecret.token(claims, secret: secret, folder: installation.folder)
    }

    private static func share(_ text: String, with editor: String, _ token: String, _ installation: Installation)
        async throws
    {
        let answer = try await installation.curl(
            "mutation($i: CreateNoteInput!) { createNote(input: $i) { text editors } }",
            ["i": ["text": .string(text), "editors": [.string(editor)]]],
            token: token
        )
        #expect(answer["data"]?["createNote"]?["text"] == .string(text), "\(answer)")
    }

    /// What a caller reads.
    private static func notes(_ token: String, _ installation: Installation) async throws -> [String] {
        let answer = try await installation.curl("{ listNotes { items { text } } }", token: token)
        let items = answer["data"]?["listNotes"]?["items"]?.arrayValue
        guard let items else { throw HarnessFailure("listNotes: \(answer)") }
        return items.compactMap { $0["text"]?.stringValue }.sorted()
    }

    private static func id(of name: String, _ installation: Installation) async throws -> String {
        let lines = try await installation.administer(["user", "list", "--json"]).split(separator: "\n")
        let users = try lines.map { try JSONParser.parse(String($0)) }
        return try #require(users.first { $0["name"]?.stringValue == name }?["id"]?.stringValue)
    }

    @Test("a name in a list of owners is nobody's subject, and an id in it is nobody's name")
    func lists() async throws {
        try await Self.run { installation in
            let ada = try await installation.addUser("ada")
            let bob = try await installation.addUser("bob")
            let carol = try await Self.token(Self.carolsID, "carol", installation)
            let bobsID = try await Self.id(of: "bob", installation)
            try await Self.share("for bob", with: "bob", ada, installation)
            try await Self.share("for bob's id", with: bobsID, ada, installation)
            try await Self.share("for carol's id", with: Self.carolsID, ada, installation)
            try await Self.share("for carol's id and name", with: Self.carolsID + "::carol", ada, installation)
            #expect(try await Self.notes(bob, installation) == ["for bob", "for bob's id"])
            #expect(try await Self.notes(carol, installation) == ["for carol's id", "for carol's id and name"])
            for (subject, name) in [
                // Bob's name, then ids of others, as subject and as name, with
                // and without the other half.
                ("bob", "mallory"), ("bob", nil), ("mallory", bobsID), ("mallory", Self.carolsID),
                ("6f9619ff-8b86-4011-b42d-00c04fc964fe", Self.carolsID),
            ] {
                let mallory = try await Self.token(subject, name, installation)
                let answer = try await installation.curl("{ listNotes { items { text } } }", token: mallory)
                #expect(answer["data"]?["listNotes"]?["items"] == [], "\(subject), \(name ?? "-"): \(answer)")
            }
        }
    }

    @Test("a user cannot be added under a name that has the form of an id")
    func names() async throws {
        try await Self.run { installation in
            for name in [Self.carolsID, Self.carolsID.uppercased()] {
                let result = try await installation.tocsin(
                    ["user", "add", name, "--data-dir", installation.folder + "/data"],
                    token: ""
                )
                #expect(result.status == 1 && result.errors.contains("UUID"), "\(result)")
            }
            try await installation.administer(["user", "add", String(Self.carolsID.dropLast())])
        }
    }

    @Test("a provider's token whose subject is a local account's id gets 401, before and after the account is disabled")
    func localID() async throws {
        try await Self.run { installation in
            let bob = try await installation.addUser("bob")
            try await Self.share("bob's own", with: "bob", bob, installation)
            let bobsID = try await Self.id(of: "bob", installation)
            let body = ["--json", #"{"query":"{ listNotes { items { text } } }"}"#]
            for disables in [false, true] {
                if disables { try await installation.administer(["user", "disable", "bob"]) }
                for name in ["bob", "mallory", nil] {
                    let token = try await Self.token(bobsID, name, installation)
                    let answer = try await installation.http("/graphql", token: token, body)
                    #expect(answer.status == 401, "\(answer)")
                    let socket = try await RawSocket(installation, token: token)
                    #expect(try await socket.untilClosed() == 4403)
                }
            }
        }
    }
}
