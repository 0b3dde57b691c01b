import Foundation
import JSON
import Testing

/// A server with local users and a sign-in provider that names groups.
struct SharedScene {
    let installation: Installation
    /// The owner of what is shared.
    let ada: String
    private static let secret = "a shared secret of more than 32 bytes, for tests"

    static func run(_ body: (SharedScene) async throws -> Void) async throws {
        let prepare = { (installation: Installation) in
            installation.environment["TOCSIN_JWT_ISSUER"] = "https://id.example"
            installation.environment["TOCSIN_JWT_AUDIENCE"] = "app"
            installation.environment["TOCSIN_GROUPS_MERGE"] = "true"
            installation.environment["TOCSIN_JWT_HS256_SECRET"] = secret
            // Sockets that listen while a busy machine does something else are not taken for dead.
            installation.environment["TOCSIN_SOCKET_PING_SECONDS"] = "600"
        }
        try await Installation.run(prepare: prepare) { installation in
            try await body(SharedScene(installation: installation, ada: try await installation.addUser("ada")))
        }
    }

    /// A token of the sign-in provider for somebody in these groups.
    func token(of name: String, in groups: [String]) async throws -> String {
        let now = Int64(Date().timeIntervalSince1970)
        let claims: JSONObject = [
            "iss": "https://id.example", "aud": "app", "sub": .string("p-\(name)"), "username": .string(name),
            "iat": .int(now), "exp": .int(now + 600), "cognito:groups": .array(groups.map { .string($0) }),
        ]
        return try await SharedSecret.token(claims, secret: Self.secret, folder: installation.folder)
    }

    /// A topic of ada's with one message.
    func makeTopic(_ name: String) async throws -> (topic: String, message: String) {
        let topic = try await installation.makeTopic(name, token: ada)
        let published = try await installation.curl(
            "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }",
            ["i": ["topicId": .string(topic), "type": 1, "title": "Ada's secret", "body": "Only for hers"]],
            token: ada
        )
        return (topic, try #require(published["data"]?["createMessage"]?["id"]?.stringValue, "\(published)"))
    }

    /// Raises an incident of ada's in a topic; answers its id.
    func raise(in topic: String) async throws -> String {
        let raised = try await installation.curl(
            "mutation($i: RaiseIncidentInput!) { raiseIncident(input: $i) { id } }",
            ["i": ["topicId": .string(topic), "title": "Ada's secret", "key": "ada's"]],
            token: ada
        )
        return try #require(raised["data"]?["raiseIncident"]?["id"]?.stringValue, "\(raised)")
    }

    /// Makes something of ada's that is about a topic; answers its id.
    func make(_ type: String, _ more: JSONObject) async throws -> String {
        var input = more
        input["name"] = "Ada's secret"
        let answer = try await installation.curl(
            "mutation($i: Create\(type)Input!) { create\(type)(input: $i) { id } }",
            ["i": .object(input)],
            token: ada
        )
        return try #require(answer["data"]?["create\(type)"]?["id"]?.stringValue, "\(answer)")
    }

    /// Shares a topic; answers the grant's id.
    @discardableResult
    func share(_ topic: String, with subject: JSONObject, as roles: [String]) async throws -> String {
        try await installation.share(topic, with: subject, as: roles, token: ada)
    }
}
