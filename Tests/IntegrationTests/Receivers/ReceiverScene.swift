import JSON

/// Ada with the topic `alerts`, bob with nothing, and ways in.
struct ReceiverScene {
    let installation: Installation
    let ada: String
    let bob: String
    let topicID: String

    /// An integration with its first key.
    struct Way {
        let id: String
        let key: String
        let url: String
    }

    init(_ installation: Installation) async throws {
        self.installation = installation
        ada = try await installation.addUser("ada")
        bob = try await installation.addUser("bob")
        topicID = try await installation.makeTopic("alerts", token: ada)
    }

    /// An integration of ada's, or of whose token is given.
    func way(_ kind: String, _ more: JSONObject = [:], token: String? = nil) async throws -> Way {
        var input: JSONObject = ["name": .string("a \(kind)"), "kind": .string(kind), "topicId": .string(topicID)]
        for member in more { input[member.key] = member.value }
        let made = try await installation.curl(
            "mutation($input: CreateIntegrationInput!) { createIntegration(input: $input) { id } }",
            ["input": .object(input)],
            token: token ?? ada
        )
        guard let id = made["data"]?["createIntegration"]?["id"]?.stringValue else { throw HarnessFailure("\(made)") }
        return try await rotated(id, token: token ?? ada)
    }

    /// The integration with a new key.
    func rotated(_ id: String, overlapSeconds: Int64 = 86_400, token: String? = nil) async throws -> Way {
        let answer = try await installation.curl(
            "mutation($id: ID!, $seconds: Int) { rotateIntegrationKey(id: $id, overlapSeconds: $seconds) { key url } }",
            ["id": .string(id), "seconds": .int(overlapSeconds)],
            token: token ?? ada
        )
        guard let made = answer["data"]?["rotateIntegrationKey"], let key = made["key"]?.stringValue,
            let url = made["url"]?.stringValue
        else { throw HarnessFailure("\(answer)") }
        return Way(id: id, key: key, url: url)
    }

    /// The messages of a topic, the oldest first.
    func messages(in topic: String? = nil) async throws -> [JSONValue] {
        let answer = try await installation.curl(
            """
            query($id: ID!) { page: getMessageByTopicIdAndCreatedAt(topicId: $id, limit: 100) {
              items { number title body priority } } }
            """,
            ["id": .string(topic ?? topicID)],
            token: ada
        )
        guard let items = answer["data"]?["page"]?["items"]?.arrayValue else { throw HarnessFailure("\(answer)") }
        return items.sorted { ($0["number"]?.intValue ?? 0) < ($1["number"]?.intValue ?? 0) }
    }

    /// Fields of an integration, as its owner sees them.
    func integration(_ id: String, _ fields: String, token: String? = nil) async throws -> JSONValue {
        let answer = try await installation.curl(
            "query($id: ID!) { getIntegration(id: $id) { \(fields) } }",
            ["id": .string(id)],
            token: token ?? ada
        )
        return answer["data"]?["getIntegration"] ?? answer
    }

    /// Posts a body to a path, with header fields.
    func post(
        _ path: String,
        _ body: String,
        _ headers: [String] = [],
        method: String = "POST"
    ) async throws -> HTTPAnswer {
        let fields = (["Content-Type: application/json"] + headers).flatMap { ["--header", $0] }
        return try await installation.http(path, fields + ["--request", method, "--data-binary", body])
    }
}

/// Bodies as senders post them.
enum SentBody {
    static let alertmanager = #"""
        {"receiver":"all","status":"firing","alerts":[{"status":"firing","labels":{"alertname":"DiskFull",
        "instance":"db-1:9100","severity":"critical"},"annotations":{"summary":"db-1 disk at 91 %"},
        "startsAt":"2026-11-23T11:50:15.90489828Z","endsAt":"0001-01-01T00:00:00Z","generatorURL":"",
        "fingerprint":"1c4e48690609996c"}],"groupLabels":{"alertname":"DiskFull"},
        "commonLabels":{"alertname":"DiskFull"},"commonAnnotations":{},"externalURL":"http://am.example:9093",
        "version":"4","groupKey":"{}:{alertname=\"DiskFull\"}","truncatedAlerts":0}
        """#
    static let event = #"{"action":"log","title":"Disk full","body":"91 %","severity":"critical"}"#

    static func pagerDuty(_ key: String) -> String {
        #"{"routing_key":"\#(key)","event_action":"trigger","dedup_key":"db-3","payload":{"summary":"Disk full","#
            + #""source":"db-3","severity":"critical"}}"#
    }
}
