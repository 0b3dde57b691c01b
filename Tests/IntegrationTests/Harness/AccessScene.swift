import Foundation
import JSON
import TocsinClient

/// Ada with a phone and a topic, and others whose phones get its messages too,
/// under a schema of the test's.
struct AccessScene {
    let installation: Installation
    let ada: TocsinClient
    let topicID: String

    private static let issuer = "https://sign-in.example.com/pool"
    private static let secret = "a shared secret of more than 32 bytes, for tests"
    static let phoneOfAda = PushScene.phone("ad")
    static let phoneOfBob = PushScene.phone("b0")

    /// A server with the schema made of these rules and fields, to which a sign-in
    /// provider may send people.
    static func run(
        topic: Declaration,
        message: Declaration,
        environment: [String: String] = [:],
        _ body: (AccessScene) async throws -> Void
    ) async throws {
        try await Installation.run { installation in
            let path = installation.folder + "/schema.graphql"
            try schema(topic, message).write(toFile: path, atomically: true, encoding: .utf8)
            installation.options = ["--schema", path]
            installation.environment["TOCSIN_JWT_ISSUER"] = issuer
            installation.environment["TOCSIN_JWT_AUDIENCE"] = "the-app"
            installation.environment["TOCSIN_JWT_HS256_SECRET"] = secret
            // So many that nothing fails while a test does something else,
            // however busy the machine.
            let pauses = Array(repeating: "1", count: 100)
            installation.environment["TOCSIN_PUSH_RETRY_SECONDS"] = pauses.joined(separator: ",")
            installation.environment["TOCSIN_PUSH_ATTEMPTS"] = "1000"
            installation.environment.merge(environment) { $1 }
        } _: { installation in
            try await body(try await AccessScene(installation))
        }
    }

    /// What a test wants of a type: who beside its owner may do what, and more fields.
    struct Declaration {
        var rules: String
        var fields = ""
        /// Of a message's text.
        var body = "String!"
    }

    /// Everybody who has signed in may read it.
    static let forAll = Declaration(rules: "{ allow: private, operations: [read] }")

    private static func schema(_ topic: Declaration, _ message: Declaration) -> String {
        """
        type Topic @model @auth(rules: [{ allow: owner }, \(topic.rules)]) {
          id: ID!
          name: String! @index(name: "byName", queryField: "getTopicByName")
          arn: String!
          \(topic.fields)
        }
        type Message @model @auth(rules: [{ allow: owner, operations: [create, read] }, \(message.rules)]) {
          id: ID!
          type: Int!
          title: String!
          body: \(message.body)
          createdAt: AWSDateTime!
          topicId: ID! @index(name: "byTopicIdAndCreatedAt", sortKeyFields: ["createdAt"])
          \(message.fields)
        }
        """
    }

    private init(_ installation: Installation) async throws {
        self.installation = installation
        ada = try installation.makeClient(token: try await installation.addUser("ada"))
        topicID = try await ada.makeTopic(named: "alerts")
        try await join(ada, phone: Self.phoneOfAda, name: "ada's")
    }

    /// Registers a phone, and joins the topic with it.
    func join(_ client: TocsinClient, phone: String, name: String) async throws {
        try await PushScene.register(phone, client, name: name)
        let join = "mutation($id: ID!) { subscribeToTopic(topicId: $id) { topicId } }"
        _ = try await client.query(join, variables: ["id": .string(topicID)])
    }

    /// Bob, a local user, as a member with a phone; answers his token.
    func addBob() async throws -> String {
        let token = try await installation.addUser("bob")
        try await join(try installation.makeClient(token: token), phone: Self.phoneOfBob, name: "bob's")
        return token
    }

    /// A token of somebody whom the sign-in provider knows.
    func token(of name: String, groups: [String]) async throws -> String {
        let now = Int64(Date().timeIntervalSince1970)
        let claims: JSONObject = [
            "iss": .string(Self.issuer), "aud": "the-app", "sub": .string("subject-of-" + name),
            "username": .string(name), "iat": .int(now), "exp": .int(now + 3600),
            "cognito:groups": .array(groups.map { .string($0) }),
        ]
        return try await SharedSecret.token(claims, secret: Self.secret, folder: installation.folder)
    }

    /// Changes the topic.
    func update(_ fields: JSONObject) async throws {
        var input = fields
        input["id"] = .string(topicID)
        let stored = try await ada.query(
            "query($id: ID!) { getTopic(id: $id) { _version } }",
            variables: ["id": .string(topicID)]
        )
        input["_version"] = stored["getTopic"]?["_version"] ?? .null
        let update = "mutation($i: UpdateTopicInput!) { updateTopic(input: $i) { id } }"
        _ = try await ada.query(update, variables: ["i": .object(input)])
    }

    func publish(_ title: String) async throws -> String {
        try await ada.publish(topic: .id(topicID), title: title).id
    }

    /// A message's outcomes by the names of the phones, as status and reason.
    func outcomes(_ messageID: String) async throws -> [String: String] {
        let query = """
            query($id: ID!) { getMessage(id: $id) { deliveries { items { status reason device { name } } } } }
            """
        let answer = try await ada.query(query, variables: ["id": .string(messageID)])
        var outcomes: [String: String] = [:]
        for row in answer["getMessage"]?["deliveries"]?["items"]?.arrayValue ?? [] {
            let parts = [row["status"]?.stringValue, row["reason"]?.stringValue].compactMap(\.self)
            outcomes[row["device"]?["name"]?.stringValue ?? "?"] = parts.joined(separator: " ")
        }
        return outcomes
    }

    func until(_ messageID: String, _ expected: [String: String]) async throws {
        var seen: [String: String] = [:]
        do {
            try await eventually("the outcomes are \(expected)") {
                seen = try await outcomes(messageID)
                return seen == expected
            }
        } catch {
            throw HarnessFailure("\(error) They are \(seen).")
        }
    }

    /// Publishes again and again until the outcomes are these: for what
    /// becomes known behind a request.
    func untilNew(_ expected: [String: String]) async throws {
        try await eventually("messages have the outcomes \(expected)") {
            let message = try await publish("again")
            try await eventually("it is settled") {
                let outcomes = try await outcomes(message)
                return outcomes.count == expected.count
                    && !outcomes.values.contains { $0.hasPrefix("WAITING") || $0.hasPrefix("SENDING") }
            }
            return try await outcomes(message) == expected
        }
    }

    /// The titles that a phone has got.
    func titles(on phone: String) async throws -> [String] {
        try await installation.simulator?.pushes().filter { $0.isAccepted && $0.token == phone }.map(\.title) ?? []
    }
}
