import Foundation
import JSON
import Testing
import TocsinClient

@Suite("Sign-in by a provider's tokens", .timeLimit(.minutes(5)))
struct SignInTests {
    private static let issuer = "https://sign-in.example.com/pool"
    private static let audience = "the-app"
    private static let secret = "a shared secret of more than 32 bytes, for tests"

    @Test("a shared secret: good tokens are their subject, others get 401; local tokens stay good")
    func sharedSecret() async throws {
        let prepare = { (installation: Installation) in
            installation.environment.merge(Self.rules) { $1 }
            installation.environment["TOCSIN_JWT_HS256_SECRET"] = Self.secret
        }
        try await Installation.run(prepare: prepare) { installation in
            let folder = installation.folder
            let good = try await SharedSecret.token(Self.claims(), secret: Self.secret, folder: folder)
            try await Self.expectMe("subject-1", "carol", good, installation)
            for (what, claims) in Self.badClaims {
                let token = try await SharedSecret.token(claims, secret: Self.secret, folder: folder)
                try await Self.expectRefused(token, what, installation)
            }
            let other = try await SharedSecret.token(Self.claims(), secret: Self.secret + "!", folder: folder)
            try await Self.expectRefused(other, "another secret", installation)
            let ada = try await installation.addUser("ada")
            let me = try await installation.curl("{ me { username } }", token: ada)
            #expect(me == ["data": ["me": ["username": "ada"]]])
        }
    }

    @Test("a key set's RSA key is believed for what it signed, and nothing else is")
    func rsaKey() async throws { try await expectKeySet(signing: .rsa) }

    @Test("a key set's EC key is believed for what it signed, and nothing else is")
    func ecKey() async throws { try await expectKeySet(signing: .ec) }

    @Test("the topics of a provider's user are theirs alone, and work as a local user's do")
    func ownership() async throws {
        let prepare = { (installation: Installation) in
            installation.environment.merge(Self.rules) { $1 }
            installation.environment["TOCSIN_JWT_HS256_SECRET"] = Self.secret
        }
        try await Installation.run(prepare: prepare) { installation in
            var claims = Self.claims()
            let folder = installation.folder
            let carol = try await SharedSecret.token(claims, secret: Self.secret, folder: folder)
            claims["sub"] = "subject-2"
            claims["username"] = "dave"
            let dave = try await SharedSecret.token(claims, secret: Self.secret, folder: folder)
            let client = try installation.makeClient(token: carol)
            let topicID = try await client.makeTopic(named: "carols")
            let follower = Follower(client, topicID: topicID)
            try await follower.untilLive()
            _ = try await client.publish(topic: .id(topicID), title: "hers")
            try await eventually("her message") { follower.messages.map(\.title) == ["hers"] }
            follower.stop()
            let topics = try await installation.curl("{ listTopics { items { name } } }", token: dave)
            #expect(topics == ["data": ["listTopics": ["items": []]]])
        }
    }

    /// A server that knows an RSA and an EC key believes one of them, and only for what it signed.
    private func expectKeySet(signing kind: SigningKey.Kind) async throws {
        var keys: [SigningKey] = []
        let prepare = { (installation: Installation) in
            let folder = installation.folder
            keys = [
                try await SigningKey(.rsa, id: "key-rsa", folder: folder),
                try await SigningKey(.ec, id: "key-ec", folder: folder),
            ]
            let members = [try await keys[0].publicMember(), try await keys[1].publicMember()]
            let set: JSONValue = ["keys": .array(members)]
            let path = folder + "/keys.json"
            try set.serializedString().write(toFile: path, atomically: true, encoding: .utf8)
            installation.environment.merge(Self.rules) { $1 }
            installation.environment["TOCSIN_JWKS_FILE"] = path
        }
        try await Installation.run(prepare: prepare) { installation in
            let key = try #require(keys.first { $0.kind == kind })
            let other = try #require(keys.first { $0.kind != kind })
            let good = try await key.token(Self.claims())
            try await Self.expectMe("subject-1", "carol", good, installation)
            for (what, claims) in Self.badClaims {
                try await Self.expectRefused(try await key.token(claims), what, installation)
            }
            let stranger = try await SigningKey(kind, id: key.id, folder: installation.folder)
            let forged = [
                ("a stranger's key under a known id", try await stranger.token(Self.claims())),
                ("an unknown key id", try await key.token(Self.claims(), keyID: "key-none")),
                ("another key's id", try await key.token(Self.claims(), keyID: other.id)),
                ("the public key as a secret", try await confused(key, installation)),
            ]
            for (what, token) in forged { try await Self.expectRefused(token, what, installation) }
        }
    }

    /// A token under HS256 whose secret is the public key, which everybody knows.
    private func confused(_ key: SigningKey, _ installation: Installation) async throws -> String {
        let text = try await key.publicText()
        return try await SharedSecret.token(Self.claims(), secret: text, folder: installation.folder)
    }

    private static let rules = ["TOCSIN_JWT_ISSUER": issuer, "TOCSIN_JWT_AUDIENCE": "another-app,\(audience)"]

    private static func claims() -> JSONObject {
        let now = Int64(Date().timeIntervalSince1970)
        return [
            "iss": .string(issuer), "aud": .string(audience), "sub": "subject-1", "username": "carol", "iat": .int(now),
            "exp": .int(now + 600),
        ]
    }

    private static var badClaims: [(what: String, claims: JSONObject)] {
        let now = Int64(Date().timeIntervalSince1970)
        let changes: [(String, String, JSONValue?)] = [
            ("another issuer", "iss", "https://sign-in.example.com/pool/"),
            ("the server's own issuer", "iss", "tocsin"),
            ("no issuer", "iss", nil), ("another audience", "aud", "elsewhere"), ("no audience", "aud", nil),
            ("expired", "exp", .int(now - 1)), ("no expiry", "exp", nil), ("an expiry that is text", "exp", "never"),
            ("not good yet", "nbf", .int(now + 500)), ("no subject", "sub", nil),
            ("a subject that could be another's", "sub", "a::b"), ("a refresh token", "token_use", "refresh"),
        ]
        return changes.map { what, name, value in
            var claims = claims()
            claims[name] = value
            return (what, claims)
        }
    }

    private static func expectMe(
        _ userID: String,
        _ username: String,
        _ token: String,
        _ installation: Installation
    ) async throws {
        let answer = try await installation.curl("{ me { userId username scope } }", token: token)
        let me: JSONValue = ["userId": .string(userID), "username": .string(username), "scope": "full"]
        #expect(answer == ["data": ["me": me]])
    }

    private static func expectRefused(_ token: String, _ what: String, _ installation: Installation) async throws {
        let body = ["--json", #"{"query":"{ me { username } }"}"#]
        let answer = try await installation.http("/graphql", token: token, body)
        #expect(answer.status == 401, "\(what): \(answer.body)")
        #expect(!answer.body.contains("carol"), "\(what): \(answer.body)")
    }
}
