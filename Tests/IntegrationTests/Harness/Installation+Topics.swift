import JSON

// What a test is about nearly always: somebody's topic, and who else may use it.
extension Installation {
    /// Makes a topic of whose token it is; answers its id.
    func makeTopic(_ name: String, token: String) async throws -> String {
        let made = try await curl(
            "mutation($name: String!) { createTopic(input: { name: $name }) { id } }",
            ["name": .string(name)],
            token: token
        )
        guard let id = made["data"]?["createTopic"]?["id"]?.stringValue else { throw HarnessFailure("\(made)") }
        return id
    }

    /// Shares a topic with a subject, such as `["user": "bob"]`; answers the grant's id.
    @discardableResult
    func share(_ topic: String, with subject: JSONObject, as roles: [String], token: String) async throws -> String {
        var input = subject
        input["topicId"] = .string(topic)
        input["roles"] = .array(roles.map { .string($0) })
        let shared = try await curl(
            "mutation($input: GrantInput!) { grantTopic(input: $input) { id } }",
            ["input": .object(input)],
            token: token
        )
        guard let id = shared["data"]?["grantTopic"]?["id"]?.stringValue else { throw HarnessFailure("\(shared)") }
        return id
    }
}
