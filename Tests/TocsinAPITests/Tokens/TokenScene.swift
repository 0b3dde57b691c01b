import JSON
import Testing
import TocsinCore

/// A local user with two topics, a message in each, a device, a schedule and a token.
struct TokenScene {
    let api: APIHarness
    let user: UserID
    /// The topic that narrow tokens name, and one that they do not.
    let own: SchemaWalk.Aim
    let other: SchemaWalk.Aim
    /// What nobody has.
    let absent: SchemaWalk.Aim

    /// What no narrow token may ever be shown.
    static let secrets = ["secret-title", "secret-body", "secret-other", "secret-schedule", "secret-token", "5ec2e7"]

    init() async throws {
        let api = try await APIHarness(clientIDs: .uuid)
        self.api = api
        let accounts = AccountService(environment: api.environment)
        let account = try await accounts.add(name: "ann", passwordHash: nil)
        user = account.id
        let ann = Identity(userID: account.id, username: "ann")
        func id(_ document: String, _ field: String) async throws -> String {
            let answer = try await api.run(document, as: ann)
            return try #require(answer["data"]?[field]?["id"]?.stringValue, "\(answer)")
        }
        func aim(_ name: String, _ mark: String) async throws -> SchemaWalk.Aim {
            let topic = try await id("mutation { createTopic(input: { name: \"\(name)\" }) { id } }", "createTopic")
            let input = "{ topicId: \"\(topic)\", type: 1, title: \"secret-title\", body: \"secret-body\" }"
            let plan = """
                { topicId: "\(topic)", name: "secret-schedule", cron: "0 0 1 1 *",
                  input: "{\\"type\\":1,\\"title\\":\\"t\\",\\"body\\":\\"b\\"}" }
                """
            let order = "{ name: \"secret-token\", scopes: [\"read\"] }"
            let token = try await api.run("mutation { createToken(input: \(order)) { token { id } } }", as: ann)
            let phone = String(repeating: mark, count: 32)
            _ = try await api.run(
                "mutation { registerPushToken(token: \"\(phone)\", platform: \"ios\", name: \"5ec2e7\") { userId } }",
                as: ann
            )
            return SchemaWalk.Aim(
                topic: topic,
                message: try await id("mutation { createMessage(input: \(input)) { id } }", "createMessage"),
                schedule: try await id(
                    "mutation { createScheduledMessage(input: \(plan)) { id } }",
                    "createScheduledMessage"
                ),
                token: try #require(token["data"]?["createToken"]?["token"]?["id"]?.stringValue, "\(token)"),
                user: account.id.text,
                pushToken: phone,
                incident: try await id(
                    "mutation { raiseIncident(input: { topicId: \"\(topic)\", title: \"secret-title\" }) { id } }",
                    "raiseIncident"
                )
            )
        }
        own = try await aim("own", "ab")
        other = try await aim("secret-other", "cd")
        absent = SchemaWalk.Aim(
            topic: "01900000-0000-7000-8000-000000000001",
            message: "01900000-0000-7000-8000-000000000002",
            schedule: "01900000-0000-7000-8000-000000000003",
            token: "01900000-0000-7000-8000-000000000004",
            user: "01900000-0000-7000-8000-000000000005",
            pushToken: String(repeating: "ef", count: 32),
            incident: "01900000-0000-7000-8000-000000000006"
        )
    }

    /// The user, by a token with these scopes.
    func caller(_ words: [String]) throws -> Identity {
        Identity(userID: user, username: "ann", scope: try #require(Identity.Scope(words: words)))
    }

    /// All that the user has, as they see it.
    func everything() async throws -> JSONValue {
        let query = """
            { listTopics { items { id name _version _deleted } } listMessages { items { id title _version _deleted } }
              devices { id token active } memberships { topicId push } readState { unread }
              listScheduledMessages { items { id name enabled } } tokens { items { id name scopes expiresAt revokedAt } }
              mySettings { timeZone doNotDisturbUntil } me { notifications } }
            """
        let answer = try await api.run(query, as: try caller(["full"]))
        #expect(answer["errors"] == nil, "\(answer)")
        return answer
    }
}
