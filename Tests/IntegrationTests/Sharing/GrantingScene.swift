import JSON
import TocsinClient

/// Ada's topics, and the grants she gives and takes back.
struct GrantingScene {
    let ada: TocsinClient

    /// Shares a topic; answers the grant's id.
    func share(_ topicID: String, with member: JSONObject, roles: [JSONValue] = ["READER"]) async throws -> String {
        var input: JSONObject = ["topicId": .string(topicID), "roles": .array(roles)]
        for entry in member { input[entry.key] = entry.value }
        let answer = try await ada.mutate(
            "mutation($i: GrantInput!) { grantTopic(input: $i) { id } }",
            variables: ["i": .object(input)]
        )
        guard let id = answer["grantTopic"]?["id"]?.stringValue else { throw HarnessFailure("No grant: \(answer)") }
        return id
    }

    func revoke(_ grant: String) async throws {
        _ = try await ada.mutate(
            "mutation($i: ID!) { revokeGrant(id: $i) { id } }",
            variables: ["i": .string(grant)]
        )
    }
}

extension RawSocket {
    /// Everything that the first subscription says until a condition holds.
    func messages(withinSeconds seconds: Double = Patience.seconds, until isEnough: ([JSONValue]) -> Bool) async throws
        -> [JSONValue]
    {
        var messages: [JSONValue] = []
        while !isEnough(messages) {
            guard case .message(let message) = try await next(withinSeconds: seconds) else {
                throw HarnessFailure("The socket has ended after \(messages).")
            }
            messages.append(message)
        }
        return messages
    }
}

extension [JSONValue] {
    /// The titles of the messages among what a subscription to new messages said.
    var titles: [String] {
        compactMap { $0["payload"]?["data"]?["onCreateMessage"]?["title"]?.stringValue }
    }

    /// The code of the error with which the subscription ended.
    var errorCode: String? {
        guard let last, last["type"] == "error" else { return nil }
        return last["payload"]?.arrayValue?.first?["extensions"]?["code"]?.stringValue
    }
}
